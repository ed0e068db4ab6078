// When projections are renewed, what is reported about it, and what ends it.
import { catchUpMigrations } from '@truckroll/catch-up';
import type { RefusedRecord, ReprojectResponse } from '@truckroll/contract/gen/records/v1/projections';
import { outboxTables } from '@truckroll/outbox';
import type { Database } from '@truckroll/postgres';
import { createLog, createMetrics, silentLog } from '@truckroll/telemetry';
import { openFreshDatabase } from '@truckroll/testing';
import { Reprojector, recordStoreMigrations, type Projection, type ReprojectOptions } from '../src/index.ts';
import { companiesBehind, mayProject } from '../src/projection.ts';
import { locationTables } from './locations.ts';
import { watched } from './watched.ts';

const own = locationTables("create table offices (like locations including all); select keep_projection('offices')");
/** Rows with a projection below 2 are outdated. Those of offices never are. */
const VERSION = 2;
const LONG_MS = 3_600_000;

let database: Database;
let close: () => Promise<void>;
let reprojector: Reprojector | undefined;
beforeAll(
  async () =>
    void ({ database, close } = await openFreshDatabase({ schema: 'shop', migrations: [catchUpMigrations, outboxTables, recordStoreMigrations, own] })),
);
afterAll(() => close());
beforeEach(async () => {
  await database.query({ text: 'truncate locations, projection_release' });
  await announce();
});
afterEach(() => reprojector?.stop());

const announce = () => database.query({ text: `insert into projection_release values (${2 * VERSION}, clock_timestamp())` });
/** Announces the release again during a transaction that executes `text`, and does `work` before it ends. */
const announcedDuring = (text: string, work: () => Promise<void>, by = database) =>
  by.transaction(async (tx) => {
    await tx.query({ text });
    await database.query({ text: 'delete from projection_release' });
    await announce();
    await work();
  });
const WRITES = 'select pg_current_xact_id()';
const outdated = (rows: number) =>
  database.query({
    text: `insert into locations (company_id, id, created_at, updated_at, document, projection)
      select gen_random_uuid(), gen_random_uuid(), now(), now(), '', 1 from generate_series(1, $1::int)`,
    values: [rows],
  });
const project = () => database.query({ text: `update locations set projection = ${VERSION}` });

const refusal = (id: string): RefusedRecord => ({ company_id: 'c', id, reason: 'no' });

function start(renew: (work: ReprojectOptions) => Promise<void>, options: { through?: Database; log?: typeof silentLog; poke?: () => void } = {}) {
  const { through = database, log = silentLog, ...rest } = options;
  const metrics = createMetrics('test');
  const nothing = async (): Promise<void> => Promise.reject(new Error('no row of offices is outdated'));
  const projections: Projection[] = [
    { path: 'locations', table: 'locations', version: VERSION, renew },
    { path: 'offices', table: 'offices', version: VERSION, renew: nothing },
  ];
  reprojector = new Reprojector({ database: through, projections, log, metrics, ...rest });
  const series = async (name: string): Promise<string[]> =>
    (await metrics.render()).body.split('\n').flatMap((line) => (line.startsWith(`${name}{`) ? line.replace(/^.*path="(.*?)".*} /, '$1 ') : []));
  return { reprojector, series };
}

async function run(path: string, renew: (work: ReprojectOptions) => Promise<void>, poke = (): void => undefined) {
  const steps: ReprojectResponse[] = [];
  const { reprojector: own, series } = start(renew, { poke });
  await own.run(path, new AbortController().signal, (step) => steps.push(structuredClone(step)));
  return { steps, series };
}

describe('a requested pass', () => {
  test('reports every batch with what is left, counts rows, and wakes the relay only after batches with rows', async () => {
    await outdated(5);
    let pokes = 0;
    const renew = async ({ renewed, refused }: ReprojectOptions): Promise<void> => {
      renewed(1);
      refused(refusal('a'));
      renewed(2);
      renewed(0);
      await project();
    };
    const { steps, series } = await run('locations', renew, () => void (pokes += 1));
    expect(steps).toEqual([
      { path: 'locations', renewed: 1, behind: 4, refused: [], done: false },
      { path: 'locations', renewed: 3, behind: 2, refused: [], done: false },
      { path: 'locations', renewed: 3, behind: 2, refused: [], done: false },
      { path: 'locations', renewed: 3, behind: 0, refused: [refusal('a')], done: true },
    ]);
    expect(pokes).toBe(2);
    expect(await series('projection_rows_renewed_total')).toEqual(['locations 3']);
    expect(await series('projection_rows_refused_total')).toEqual(['locations 1']);
    expect(await series('projection_rows_behind')).toEqual(['locations 0']);
  });

  test('never reports fewer rows to go than were refused, and names at most 100 of them', async () => {
    await outdated(101);
    const renew = async ({ renewed, refused }: ReprojectOptions): Promise<void> => {
      for (let n = 0; n < 101; n++) refused(refusal(String(n)));
      renewed(50);
    };
    const { steps } = await run('locations', renew);
    expect(steps.map(({ behind, refused }) => [behind, refused.length])).toEqual([
      [101, 0],
      [101, 100],
    ]);
  });

  test('of all paths is done with each of them, also with those that have nothing outdated', async () => {
    await outdated(1);
    const { steps } = await run('', () => project().then(() => undefined));
    expect(steps.map(({ path, done }) => [path, done])).toEqual([
      ['locations', true],
      ['offices', true],
    ]);
    expect((await run('offices', () => project().then(() => undefined))).steps).toHaveLength(1);
  });

  test('does not rest', async () => {
    await outdated(1);
    const { steps } = await run('locations', ({ rest }) => rest(LONG_MS));
    expect(steps).toMatchObject([{ done: true }]);
  }, 10_000);

  test('refuses a path that the service does not have, and names those that it has', async () => {
    await expect(run('jobs', async () => undefined)).rejects.toMatchObject({
      status: 400,
      details: [{ location: 'body', field: 'path', code: 'INVALID_ENUM_VALUE', message: 'This service projects locations, offices.' }],
    });
  });

  test('is refused with Retry-After while transactions from before the release may add outdated rows', async () => {
    await outdated(1);
    await announcedDuring(WRITES, async () => {
      await expect(run('locations', async () => undefined)).rejects.toMatchObject({
        status: 503,
        retryAfterSeconds: 5,
        message: expect.stringContaining('has just begun'),
      });
    });
  });

  test('ends when the service stops', async () => {
    await outdated(1);
    const begun = Promise.withResolvers<void>();
    const { reprojector: own } = start(({ signal }) => {
      begun.resolve();
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    });
    const passing = own.run('locations', new AbortController().signal, () => undefined);
    await begun.promise;
    await own.stop();
    await expect(passing).rejects.toThrow('the service is stopping');
  }, 10_000);
});

describe('in the background', () => {
  test('renews what is outdated, rests after each batch, logs the outcome, and leaves the work to other replicas afterwards', async () => {
    await outdated(2);
    const logged: Record<string, unknown>[] = [];
    const log = createLog('test', 'info', { write: (line) => void logged.push(JSON.parse(line) as Record<string, unknown>) });
    const closed = Promise.withResolvers<void>();
    const rested = Promise.withResolvers<string>();
    const renew = async ({ renewed, refused, rest }: ReprojectOptions): Promise<void> => {
      renewed(1);
      refused(refusal('a'));
      rest(LONG_MS).then(
        () => rested.resolve('to the end'),
        () => rested.resolve('until it stopped'),
      );
    };
    const { reprojector: own, series } = start(renew, { log, through: watched(database, { closed: () => closed.resolve() }) });
    await own.start();
    await closed.promise;
    await own.stop();
    expect(await rested.promise).toBe('until it stopped');
    expect(logged).toMatchObject([
      { level: 'info', path: 'locations', version: VERSION, rows: 1 },
      { level: 'warn', path: 'locations', count: 1, first: refusal('a') },
    ]);
    expect(await series('projection_rows_behind')).toEqual(['offices 0', 'locations 2']);
  }, 10_000);

  test('does nothing while transactions from before the release may add outdated rows', async () => {
    await outdated(1);
    const looked = Promise.withResolvers<void>();
    let renewals = 0;
    await announcedDuring(WRITES, async () => {
      const renew = async (): Promise<void> => void (renewals += 1);
      const { reprojector: own } = start(renew, { through: watched(database, { after: () => looked.resolve() }) });
      await own.start();
      await looked.promise;
      await own.stop();
    });
    expect(renewals).toBe(0);
  });
});

const projects = async (): Promise<void> => expect(await mayProject(database, [{ path: 'locations', table: 'locations', version: 2 * VERSION }])).toBe('yes');

test('does not wait for a transaction that only reads', async () => {
  await announcedDuring('select now()', projects);
});

test('does not wait for a transaction of another database on the same server', async () => {
  const other = await openFreshDatabase({ schema: 'shop', migrations: [catchUpMigrations, recordStoreMigrations] });
  try {
    await announcedDuring(WRITES, projects, other.database);
  } finally {
    await other.close();
  }
});

test.each(['on', 'off'])('finds a company by its oldest row, whichever row was stored first (index scans %s)', async (scans) => {
  const company = '0191b3c4-5d6e-8f70-8192-a3b4c5d6e7f8';
  await outdated(1);
  await project();
  await outdated(1);
  await database.query({ text: 'update locations set company_id = $1', values: [company] });
  const found = await database.transaction(async (tx) => {
    await tx.query({
      text: `select set_config(name, $1, true) from unnest(array['enable_indexscan', 'enable_indexonlyscan', 'enable_bitmapscan']) name`,
      values: [scans],
    });
    return companiesBehind(tx, { path: 'locations', table: 'locations', version: VERSION });
  });
  expect(found).toEqual([company]);
});
