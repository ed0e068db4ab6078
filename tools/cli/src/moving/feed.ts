// The company's change feed goes on in the other cell, which stores other versions than it shows (docs/adr/0027).
import { CannotMove, arrive, chooseShift, endArrival, leave } from '@truckroll/change-feed';
import { owners } from '@truckroll/contract';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import type { Queryable } from '@truckroll/postgres';
import type { Cell } from './cells.ts';

/** Before the first row is copied. Throws Failure if it cannot go on there. */
export async function shiftFeed(from: Cell, to: Cell, companyId: string, signal: AbortSignal): Promise<void> {
  for (const schema of owners) await chooseShift({ source: from.db, target: to.db, schema, companyId }, signal).catch(explain);
}

/** When nothing of the company changes any more, and all of it is there. Throws Failure if versions would decrease. */
export async function feedArrives(from: Cell, to: Cell, companyId: string): Promise<void> {
  await Promise.all(owners.map((schema) => arrive({ source: from.db, target: to.db, schema, companyId }))).catch(explain);
}

/** When nothing arrives any more. */
export async function feedHasArrived(to: Cell, companyId: string, signal: AbortSignal): Promise<void> {
  for (const schema of owners) await endArrival({ target: to.db, schema, companyId }, signal);
}

/** After the company's rows in the cell are deleted. */
export async function feedLeaves({ db }: Cell, companyId: string, signal: AbortSignal): Promise<void> {
  for (const schema of owners) {
    await leave({ target: db, schema, companyId }, signal);
    // It would hold for what the company brings along when it comes back.
    await db.query({ text: `delete from ${schema}.change_compactions where company_id = $1`, values: [companyId] });
  }
}

/** What is added to stored versions when they are shown. */
export async function addedIn(db: Queryable, schema: string, companyId: string): Promise<number> {
  const { rows } = await db.query<{ added: number }>({ text: `select added from ${schema}.shifts where company_id = $1`, values: [companyId] });
  return rows[0]?.added ?? 0;
}

function explain(error: unknown): never {
  if (!(error instanceof CannotMove)) throw error;
  throw new Failure(`The change feed cannot move, so the company stays: ${error.message}. Give up with --abort.`, EXIT.refused, error);
}
