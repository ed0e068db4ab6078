// Where the company lives during a move (docs/adr/0029). Cells without names share no gateways.
import { CellAdminServiceService } from '@truckroll/contract/gen/integrations/v1/cells';
import { beginSwitch, endSwitch, type CellCalls } from '../cells/switch.ts';
import type { Cell } from './cells.ts';

interface SwitchedCells {
  readonly from: CellCalls;
  readonly to: CellCalls;
}

/** Undefined unless both cells have names. */
export async function placesOf(from: Cell, to: Cell): Promise<SwitchedCells | undefined> {
  const [left, right] = await Promise.all([callsOf(from), callsOf(to)]);
  return left && right && { from: left, to: right };
}

async function callsOf({ session }: Cell): Promise<CellCalls | undefined> {
  const calls = session.client('integrations', CellAdminServiceService);
  const { cell } = await calls.describeCell({});
  return cell == null ? undefined : { name: cell, calls };
}

/** Before the first row is there: the other cell answers gateways that the company lives here. */
export async function announce(source: Cell, target: Cell, companyId: string): Promise<void> {
  const { from, to } = (await placesOf(source, target)) ?? {};
  if (from && to) await to.calls.switchCompany({ company_id: companyId, from: to.name, to: from.name });
}

/** From now on gateways hold its requests, for at most a second, until one of the next two functions ends that. */
export async function hold(source: Cell, target: Cell, companyId: string): Promise<void> {
  const { from, to } = (await placesOf(source, target)) ?? {};
  if (from && to) await beginSwitch(companyId, [to, from]);
}

export async function livesThere(source: Cell, target: Cell, companyId: string): Promise<void> {
  const { from, to } = (await placesOf(source, target)) ?? {};
  if (from && to) await endSwitch(companyId, [from, to], to);
}

/** Changes nothing if its requests are not held. `target` is undefined if that cell is gone. */
export async function staysHere(source: Cell, target: Cell | undefined, companyId: string): Promise<void> {
  if (target === undefined) {
    const own = await callsOf(source);
    if (own) await endSwitch(companyId, [own], own);
    return;
  }
  const { from, to } = (await placesOf(source, target)) ?? {};
  if (from && to) await endSwitch(companyId, [from, to], from);
}

/** After the company's rows in the cell are deleted: before, it would serve what is left of them. */
export async function forgetPlace({ db }: Cell, companyId: string): Promise<void> {
  await db.query({ text: 'delete from integrations.company_places where company_id = $1', values: [companyId] });
}
