// Logs the records that were stored before their kind was in the feed: in batches, by whichever replica is free. Until a company is
// complete, its feed answers 503.
import { ApiError } from '@truckroll/contract';
import type { Database, Transaction } from '@truckroll/postgres';
import { PeriodicTask, logOutage, pause, type BackgroundPart } from '@truckroll/process';
import type { Logger } from '@truckroll/telemetry';
import type { OwnedKind } from './kinds.ts';

const BATCH = 1000;
/** Interval between looks while another replica works, and before a retry, in ms. */
const AGAIN_MS = 1000;

interface Progress {
  kind: string;
  company_id: string;
  id: string;
}

export class Backfill implements BackgroundPart {
  readonly name = 'change backfill';
  readonly #database: Database;
  readonly #kinds: readonly OwnedKind[];
  readonly #log: Logger;
  readonly #task = new PeriodicTask(
    AGAIN_MS,
    (signal) => this.#run(signal),
    (error, failures) => logOutage(this.#log, 'stored records could not be added to the feed; trying again', failures, error),
  );
  #complete = false;

  constructor(database: Database, kinds: readonly OwnedKind[], log: Logger) {
    this.#database = database;
    this.#kinds = kinds;
    this.#log = log;
  }

  /** Does the first batches before it returns: an empty schema is then complete before it accepts records. */
  async start(): Promise<void> {
    await this.#some().catch((error: unknown) => this.#log.warn({ error }, 'stored records could not be added to the feed at start; trying again'));
    if (!this.#complete) this.#task.start();
  }

  async stop(): Promise<void> {
    await this.#task.stop();
  }

  /** Errors: 503 while records of these kinds may be missing from the feed. */
  async check(companyId: string, kinds: readonly string[]): Promise<void> {
    if (this.#complete) return;
    const { rows } = await this.#database.query<{ kind: string }>({
      name: 'change_backfill_behind',
      text: `select kind from change_backfills where kind = any($2::text[]) and not done and company_id <= $1`,
      values: [companyId, kinds],
    });
    if (rows.length === 0) return;
    const message = `The feed of ${rows.map(({ kind }) => kind).join(', ')} is being prepared after an upgrade. Try again after the time in Retry-After.`;
    throw new ApiError('INTERNAL_ERROR', message, { status: 503, retryAfterSeconds: 5 });
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!this.#complete && !signal.aborted) {
      const startedAt = performance.now();
      if (!(await this.#some())) return;
      // Pauses for as long as the work took, to leave the database to other work.
      await pause(performance.now() - startedAt, signal);
    }
    // Nothing is left to look for.
    void this.#task.stop();
  }

  async #some(): Promise<boolean> {
    let worked = false;
    for (const { kind, table, codes } of this.#kinds) {
      if (await this.#database.transaction((tx) => next(tx, kind, table, codes === true), { retryContention: true })) worked = true;
    }
    const { rows } = await this.#database.query<{ left: number }>({ text: 'select count(*) as left from change_backfills where not done' });
    this.#complete = rows[0]?.left === 0;
    return worked;
  }
}

/** One batch; false if none is left or another replica is doing one. */
async function next(tx: Transaction, kind: string, table: string, codes: boolean): Promise<boolean> {
  const { rows } = await tx.query<Progress>({
    name: 'change_backfill_at',
    text: 'select kind, company_id, id from change_backfills where kind = $1 and not done for update skip locked',
    values: [kind],
  });
  const [at] = rows;
  if (at === undefined) return false;
  const key = codes ? 'md5(id)::uuid' : 'id';
  const { rows: last } = await tx.query<{ company_id: string; id: string; count: number }>({
    text: `with batch as (
        select company_id, ${key} as id, change_version from ${table} where (company_id, ${key}) > ($2, $3) order by company_id, ${key} limit ${BATCH}),
      noted as (
        insert into record_changes (company_id, kind, id, version, changed_at)
        select company_id, $1, id, (select change_version()), now() from batch where change_version is null)
      select company_id, id, count(*) over () as count from batch order by company_id desc, id desc limit 1`,
    values: [kind, at.company_id, at.id],
  });
  const reached = last[0];
  await tx.query({
    name: 'change_backfill_proceeds',
    text: 'update change_backfills set company_id = $2, id = $3, done = $4 where kind = $1',
    values: [kind, reached?.company_id ?? at.company_id, reached?.id ?? at.id, (reached?.count ?? 0) < BATCH],
  });
  return true;
}
