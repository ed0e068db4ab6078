// Builds generations of sums in batches. Each batch is a transaction that holds the company's lock briefly; any replica may take the next.
import type { Database, Transaction } from '@truckroll/postgres';
import { Notifier, backoffMs, logOutage, pause, type BackgroundPart } from '@truckroll/process';
import { lockCompany, refreshRecords } from '@truckroll/record-store';
import type { Logger, Metrics } from '@truckroll/telemetry';
import { FACTS } from '../facts/index.ts';
import { jobFacts } from '../facts/jobs.ts';
import { jobFinancials } from '../resources/job-financials.ts';
import { DEFINITIONS, SUMMARIES_VERSION } from '../facts/definitions.ts';
import { refreshJobFacts } from '../summaries/follow.ts';
import { beginGeneration, liveGenerations } from '../summaries/generations.ts';
import { FactPace } from './pace.ts';
import { RebuildBackoff } from './rebuild-backoff.ts';
import { addRange } from '../summaries/range.ts';

/** Financials refreshed, and rows of retired generations removed, per transaction. */
const BATCH = 1000;
const REMOVED = 5000;
/** Poll interval while spoiled or lowered sums wait out their backoff, in ms. */
const WAITING_MS = 1000;
/** Poll interval when nothing waits, in ms: finds builds that another replica left unfinished, and sums that earlier releases have spoiled. */
const REST_MS = 5000;

export interface SummaryBuilder extends BackgroundPart {
  /** Call it after a commit that may require building. */
  look(): void;
}

/** Finds companies whose sums are missing, spoiled, of an older version or of another time zone, and rebuilds them. `restMs` defaults to REST_MS. */
export function summaryBuilder(database: Database, log: Logger, metrics: Metrics, restMs = REST_MS): SummaryBuilder {
  const news = new Notifier();
  const stopping = new AbortController();
  const backoff = new RebuildBackoff();
  const pace = new FactPace();
  const begun = metrics.counter(
    'report_builds_begun_total',
    'Times that sums were begun because there were none, because they are of an older version, or because something that does not keep them changed what they are made of',
    ['reason'],
  );
  const finished = metrics.counter('report_builds_finished_total', 'Times that sums that were built took the place of those before');
  let running: Promise<void> = Promise.resolve();
  async function run(): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted; ) {
      try {
        const { built, waiting } = await buildSome({ database, backoff, pace, begun, finished }, stopping.signal);
        failures = 0;
        if (built === 0) await news.wait(waiting > 0 ? WAITING_MS : restMs, stopping.signal);
      } catch (error) {
        failures += 1;
        logOutage(log, 'sums for reports could not be built; trying again', failures, error);
        await pause(backoffMs(failures), stopping.signal);
      }
    }
  }
  return {
    name: 'summaries',
    look: () => news.notify(),
    async start() {
      running = run();
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

interface Building {
  database: Database;
  backoff: RebuildBackoff;
  pace: FactPace;
  begun: Count;
  finished: Count;
}

type Count = ReturnType<Metrics['counter']>;
type Outcome = 'missing' | 'spoiled' | 'older' | 'finished' | 'proceeds';

/** Builds one batch for each company that is due. Returns how many those were, and how many wait out their backoff. */
async function buildSome({ database, backoff, pace, begun, finished }: Building, signal: AbortSignal): Promise<{ built: number; waiting: number }> {
  const { rows } = await database.query<{ company_id: string; anew: boolean }>({
    name: 'companies_to_build',
    text: `select company_id, bool_or(anew) as anew from (
      select company_id, false as anew from generations where state <> 'current'
      union all select company_id, true from spoiled_summaries
      union all select company_id, true from generations g where state = 'current' and version < ${SUMMARIES_VERSION} and not exists (
        select from generations b where b.company_id = g.company_id and b.state = 'building')
      union all select company_id, false from financials_to_refresh
      union all select c.company_id, false from companies c where not exists (
        select from generations g where g.company_id = c.company_id and g.state <> 'retired')) c group by company_id`,
  });
  const due = rows.filter(({ company_id, anew }) => !anew || backoff.isDue(company_id, performance.now()));
  for (const { company_id: companyId } of due) {
    signal.throwIfAborted();
    const outcome = await database.transaction(
      async (tx) => {
        await lockCompany(tx, companyId);
        return await step(tx, companyId, pace);
      },
      { retryContention: true },
    );
    if (outcome === 'spoiled' || outcome === 'older') backoff.spoiled(companyId, performance.now());
    if (outcome === 'finished') finished.inc({});
    else if (outcome !== 'proceeds') begun.inc({ reason: outcome });
  }
  return { built: due.length, waiting: rows.length - due.length };
}

async function step(tx: Transaction, companyId: string, pace: FactPace): Promise<Outcome> {
  const { rowCount: spoiled } = await tx.query({ name: 'take_spoiled', text: 'delete from spoiled_summaries where company_id = $1', values: [companyId] });
  const live = await liveGenerations(tx, companyId);
  if (spoiled > 0 || live.length === 0) {
    await begin(tx, companyId, spoiled > 0);
    return spoiled > 0 ? 'spoiled' : 'missing';
  }
  const building = live.find(({ state }) => state === 'building');
  // Finishes a build that is under way first: replicas of an older release lower it with each write.
  if (building === undefined && live.some(({ version }) => version < SUMMARIES_VERSION)) {
    await beginGeneration(tx, companyId);
    return 'older';
  }
  if (await refreshSome(tx, companyId)) return 'proceeds';
  if (building === undefined) {
    await removeRetired(tx, companyId);
    return 'proceeds';
  }
  const kind = FACTS[building.stage];
  if (kind === undefined) {
    await takePlace(tx, companyId, building.generation);
    return 'finished';
  }
  const startedAt = performance.now();
  const most = pace.facts(kind.name);
  const ids = await kind.next(tx, companyId, building.after, most);
  const last = ids.at(-1);
  if (kind === jobFacts) await refreshJobFacts(tx, companyId, ids);
  if (last !== undefined) await addRange(tx, companyId, building, { kind, after: building.after, last });
  if (ids.length === most) pace.took(kind.name, performance.now() - startedAt);
  const [stage, after] = ids.length < most ? [building.stage + 1, null] : [building.stage, last];
  await tx.query({
    name: 'generation_proceeds',
    text: 'update generations set stage = $3, after = $4 where company_id = $1 and generation = $2',
    values: [companyId, building.generation, stage, after],
  });
  return 'proceeds';
}

/** Spoiled sums are no longer read: reports answer 503 until they are rebuilt. */
async function begin(tx: Transaction, companyId: string, spoiled: boolean): Promise<void> {
  if (spoiled) await tx.query({ name: 'retire_spoiled', text: `update generations set state = 'retired' where company_id = $1`, values: [companyId] });
  await beginGeneration(tx, companyId);
}

async function takePlace(tx: Transaction, companyId: string, generation: number): Promise<void> {
  await tx.query({ name: 'retire_current', text: `update generations set state = 'retired' where company_id = $1 and state = 'current'`, values: [companyId] });
  await tx.query({
    name: 'generation_takes_place',
    text: `update generations set state = 'current' where company_id = $1 and generation = $2`,
    values: [companyId, generation],
  });
}

/** Refreshes financials of a company whose settings have changed; returns whether any are left. */
async function refreshSome(tx: Transaction, companyId: string): Promise<boolean> {
  const { rows } = await tx.query<{ after: string | null }>({
    name: 'to_refresh',
    text: 'select after from financials_to_refresh where company_id = $1',
    values: [companyId],
  });
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
