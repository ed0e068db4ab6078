// Builds generations in batches, each in a transaction of its own that holds the company's lock for moments: the first
// one, one for another time zone, one for repair. Any replica may take the next batch.
import { backoffMs, logOutage, type BackgroundPart, type Database, type Logger, type Transaction } from '@truckroll/service-kit';
import { lockCompany, refreshRecords } from '@truckroll/record-store';
import { FACTS } from '../facts/index.ts';
import { jobFacts } from '../facts/jobs.ts';
import { jobFinancials } from '../resources/job-financials.ts';
import { DEFINITIONS } from './definitions.ts';
import { Deltas } from './deltas.ts';
import { refreshJobFacts } from './follow.ts';
import { beginGeneration, liveGenerations } from './generations.ts';

/** Facts, and rows of retired generations, that one transaction deals with. */
const BATCH = 1000;
const REMOVED = 5000;
const IDLE_MS = 250;

/** Looks for companies whose sums are missing, spoiled or of another time zone, and builds them. */
export function summaryBuilder(database: Database, log: Logger): BackgroundPart {
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();
  async function run(): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted; ) {
      try {
        const busy = await buildSome(database, stopping.signal);
        failures = 0;
        if (!busy) await pause(IDLE_MS, stopping.signal);
      } catch (error) {
        failures += 1;
        logOutage(log, 'sums for reports could not be built; trying again', failures, error);
        await pause(backoffMs(failures), stopping.signal);
      }
    }
  }
  return {
    name: 'summaries',
    async start() {
      running = run();
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Resolves at once when aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}

/** One batch for each company that needs one; whether there was any. */
async function buildSome(database: Database, signal: AbortSignal): Promise<boolean> {
  const { rows } = await database.query<{ company_id: string }>({
    name: 'companies_to_build',
    text: `select company_id from generations where state <> 'current'
      union select company_id from spoiled_summaries
      union select company_id from financials_to_refresh
      union select c.company_id from companies c where not exists (
        select from generations g where g.company_id = c.company_id and g.state <> 'retired')`,
  });
  for (const { company_id: companyId } of rows) {
    signal.throwIfAborted();
    await database.transaction(
      async (tx) => {
        await lockCompany(tx, companyId);
        await step(tx, companyId);
      },
      { retryContention: true },
    );
  }
  return rows.length > 0;
}

async function step(tx: Transaction, companyId: string): Promise<void> {
  const { rowCount: spoiled } = await tx.query({ name: 'take_spoiled', text: 'delete from spoiled_summaries where company_id = $1', values: [companyId] });
  const live = await liveGenerations(tx, companyId);
  if (spoiled > 0 || live.length === 0) return await begin(tx, companyId, spoiled > 0);
  if (await refreshSome(tx, companyId)) return;
  const building = live.find(({ state }) => state === 'building');
  if (building === undefined) return await removeRetired(tx, companyId);
  const kind = FACTS[building.stage];
  if (kind === undefined) return await takePlace(tx, companyId, building.generation);
  const ids = await kind.next(tx, companyId, building.after, BATCH);
  if (kind === jobFacts) await refreshJobFacts(tx, companyId, ids);
  const entries = await kind.read(tx, companyId, ids);
  const deltas = new Deltas();
  for (const of of entries.values()) deltas.add(building, of, 1n);
  await deltas.write(tx, companyId);
  const last = ids.at(-1);
  const [stage, after] = ids.length < BATCH || last === undefined ? [building.stage + 1, null] : [building.stage, last];
  await tx.query({
    name: 'generation_proceeds',
    text: 'update generations set stage = $3, after = $4 where company_id = $1 and generation = $2',
    values: [companyId, building.generation, stage, after],
  });
}

/** Sums that something spoiled are not read again: whoever asks meanwhile is told to come back. */
async function begin(tx: Transaction, companyId: string, spoiled: boolean): Promise<void> {
  if (spoiled) await tx.query({ name: 'retire_spoiled', text: `update generations set state = 'retired' where company_id = $1`, values: [companyId] });
  await beginGeneration(tx, companyId);
}

async function takePlace(tx: Transaction, companyId: string, generation: number): Promise<void> {
  await tx.query({ name: 'retire_current', text: `update generations set state = 'retired' where company_id = $1 and state = 'current'`, values: [companyId] });
  await tx.query({ name: 'generation_takes_place', text: `update generations set state = 'current' where company_id = $1 and generation = $2`, values: [companyId, generation] });
}

/** Financials of a company whose settings have changed; whether there were any left. */
async function refreshSome(tx: Transaction, companyId: string): Promise<boolean> {
  const { rows } = await tx.query<{ after: string | null }>({ name: 'to_refresh', text: 'select after from financials_to_refresh where company_id = $1', values: [companyId] });
  if (rows[0] === undefined) return false;
  const { rows: next } = await tx.query<{ id: string }>({
    name: 'next_to_refresh',
    text: `select id from job_financials where company_id = $1 and ($2::uuid is null or id > $2) order by id limit ${BATCH}`,
    values: [companyId, rows[0].after],
  });
  const ids = next.map(({ id }) => id);
  await refreshRecords(tx, jobFinancials, companyId, ids);
  const done = ids.length < BATCH;
  await tx.query(
    done
      ? { name: 'refreshed_all', text: 'delete from financials_to_refresh where company_id = $1', values: [companyId] }
      : { name: 'refreshed_some', text: 'update financials_to_refresh set after = $2 where company_id = $1', values: [companyId, ids.at(-1)] },
  );
  return !done;
}

/** What nobody reads any more goes in small steps. */
async function removeRetired(tx: Transaction, companyId: string): Promise<void> {
  const { rows } = await tx.query<{ generation: number }>({
    name: 'retired_generation',
    text: `select generation from generations where company_id = $1 and state = 'retired' order by generation limit 1`,
    values: [companyId],
  });
  if (rows[0] === undefined) return;
  const { generation } = rows[0];
  for (const table of DEFINITIONS.flatMap((definition) => [definition.table, definition.combinations])) {
    const { rowCount } = await tx.query({
      name: `clear_${table}`,
      text: `delete from ${table} where ctid = any (array(
        select ctid from ${table} where company_id = $1 and generation = $2 limit ${REMOVED}))`,
      values: [companyId, generation],
    });
    if (rowCount === REMOVED) return;
  }
  await tx.query({ name: 'forget_generation', text: 'delete from generations where company_id = $1 and generation = $2', values: [companyId, generation] });
}
