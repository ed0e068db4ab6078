// Runs of tasks: their order and progress, what another replica or a failure leaves, and the gates that they open.
import { randomUUID } from 'node:crypto';
import type { CatchUpRun, StartRunsResponse } from '@truckroll/contract/gen/records/v1/catch_up';
import type { CallContext } from '@truckroll/grpc';
import type { Database, Transaction } from '@truckroll/postgres';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { mustWait, openFreshDatabase } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { CatchUp, catchUpMigrations, restartRuns, type TaskBatch, type Cursor, type Task } from '../src/index.ts';

const LOW = '00000000-0000-4000-8000-000000000001';
const HIGH = 'ffffffff-ffff-4fff-bfff-ffffffffffff';
const BATCH = 2;

const own = {
  name: 'own',
  migrations: [
    {
      name: '0001_cats',
      sql: 'create table cats (company_id uuid, id uuid, primary key (company_id, id)); create table seen (company_id uuid, id uuid); create table noted (id uuid)',
    },
  ],
};
let database: Database;
let close: () => Promise<void>;
let catchUp: CatchUp | undefined;
let metrics: ReturnType<typeof createMetrics>;
beforeAll(async () => void ({ database, close } = await openFreshDatabase({ schema: 'shop', migrations: [catchUpMigrations, own] })));
afterAll(() => close());
beforeEach(() => database.query({ text: 'truncate cats, seen, noted, catch_up' }));
afterEach(() => catchUp?.stop());

/** Notes the cats that were seen, two in a batch. */
async function next(tx: Transaction, _: string, { companyId, id }: Cursor): Promise<TaskBatch> {
  const { rows } = await tx.query<{ company_id: string; id: string }>({
    text: `with batch as (select * from cats where (company_id, id) > ($1, $2) order by company_id, id limit ${BATCH})
      insert into seen select * from batch returning company_id, id`,
    values: [companyId, id],
  });
  const last = rows.at(-1);
  return { count: rows.length, reached: rows.length < BATCH || last === undefined ? undefined : { companyId: last.company_id, id: last.id } };
}
const cats: Task = { name: 'groom', subjects: ['cats'], next, preparing: (subjects) => `The grooming of ${subjects.join(', ')}` };

function create(...tasks: Task[]) {
  metrics = createMetrics('test');
  const made = (catchUp = new CatchUp({ database, log: silentLog, metrics }));
  const runners = tasks.map((task) => made.add(task));
  return { start: () => made.start(), stop: () => made.stop(), handlers: made.handlers(), runners };
}
/** A start does one batch of each unfinished run. */
async function oneBatch(...tasks: Task[]): Promise<void> {
  const { start, stop } = create(...tasks);
  await start();
  await stop();
}
const born = (company: string, count: number) =>
  database.query({ text: 'insert into cats select $1, gen_random_uuid() from generate_series(1, $2::int)', values: [company, count] });
const seen = async (company: string): Promise<number> => (await database.query({ text: 'select from seen where company_id = $1', values: [company] })).rowCount;
const state = async () => (await database.query({ text: 'select subject, processed, done, complete from catch_up order by subject' })).rows;

async function startRuns(handlers: ReturnType<CatchUp['handlers']>, task: string, reported?: () => void): Promise<CatchUpRun[]> {
  const runs: CatchUpRun[] = [];
  const context = { signal: new AbortController().signal } as CallContext;
  for await (const { run } of handlers.startRuns({ task }, context) as AsyncIterable<StartRunsResponse>) {
    runs.push(run as CatchUpRun);
    reported?.();
  }
  return runs;
}

describe('a run', () => {
  test('processes every record once, in batches, and then is complete', async () => {
    await born(LOW, 3);
    await born(HIGH, 4);
    const { start, stop } = create(cats);
    await start();
    await until(
      'the run to end',
      () => database.query({ text: 'select from catch_up where not done' }),
      ({ rowCount }) => rowCount === 0,
    );
    await stop();
    expect([await seen(LOW), await seen(HIGH)]).toEqual([3, 4]);
    expect(await state()).toEqual([{ subject: 'cats', processed: 7, done: true, complete: true }]);
    expect((await metrics.render()).body).toMatch(/catch_up_records_total\{task="groom".*\} 7[^]*catch_up_runs_unfinished\{task="groom".*\} 0\n/);
  });

  test('of an empty table is complete when the service has started', async () => {
    await oneBatch(cats);
    expect(await state()).toEqual([{ subject: 'cats', processed: 0, done: true, complete: true }]);
  });

  test('continues after its last committed batch when another one failed', async () => {
    await born(LOW, 3);
    await oneBatch(cats);
    const failing: Task = {
      ...cats,
      async next(tx, subject, after) {
        await next(tx, subject, after);
        throw new Error('the process ends here');
      },
    };
    await oneBatch(failing);
    expect([await seen(LOW), await state()]).toEqual([2, [{ subject: 'cats', processed: 2, done: false, complete: false }]]);
    await oneBatch(cats);
    expect([await seen(LOW), await state()]).toEqual([3, [{ subject: 'cats', processed: 3, done: true, complete: true }]]);
  });

  test('is left to the replica that is doing a batch, without waiting for it', async () => {
    await born(LOW, 1);
    await database.query({ text: `insert into catch_up (task, subject) values ('groom', 'cats')` });
    await database.transaction(async (tx) => {
      await tx.query({ text: 'select from catch_up for update' });
      expect(await mustWait(database, oneBatch(cats))).toBe(false);
    });
    expect(await seen(LOW)).toBe(0);
    await oneBatch(cats);
    expect(await seen(LOW)).toBe(1);
  });

  test('does not hold up the run of another subject', async () => {
    await born(LOW, 5);
    const slow: Task = { ...cats, subjects: ['cats', 'dogs'], next: (tx, subject, after) => (subject === 'cats' ? next(tx, subject, after) : NOTHING) };
    await oneBatch(slow);
    expect(await state()).toMatchObject([
      { subject: 'cats', done: false },
      { subject: 'dogs', done: true },
    ]);
  });
});

const NOTHING = Promise.resolve({ count: 0, reached: undefined });

describe('what the database names as due', () => {
  test('is done before the runs of the task, and without any', async () => {
    await born(LOW, 1);
    await database.query({ text: 'insert into noted values ($1)', values: [randomUUID()] });
    const order: string[] = [];
    const due = async (): Promise<boolean> => {
      const { rowCount } = await database.query({ text: 'delete from noted' });
      order.push(`due ${rowCount}`);
      return rowCount > 0;
    };
    const watching: Task['next'] = (tx, subject, after) => (order.push('run'), next(tx, subject, after));
    await oneBatch({ ...cats, due, next: watching });
    await oneBatch({ name: 'only what is due', due });
    expect(order.slice(0, 2)).toEqual(['due 1', 'run']);
    expect(order.at(-1)).toBe('due 0');
    expect((await state()).length).toBe(1);
  });
});

describe('a gate', () => {
  const refusal = { status: 503, retryAfterSeconds: 5, message: expect.stringContaining('The grooming of cats is being prepared') };

  test('refuses a company until its records are processed, whatever is left of others', async () => {
    await born(LOW, 2);
    await born(HIGH, 2);
    const [runner] = create(cats).runners;
    await expect(runner!.check(LOW, ['cats'])).rejects.toMatchObject(refusal);
    await oneBatch(cats);
    // Records of LOW may follow the cursor.
    await expect(runner!.check(LOW, ['cats'])).rejects.toMatchObject(refusal);
    await oneBatch(cats);
    await runner!.check(LOW, ['cats']);
    await expect(runner!.check(HIGH, ['cats'])).rejects.toMatchObject(refusal);
    await oneBatch(cats);
    await runner!.check(HIGH, ['cats']);
  });

  test('refuses a kind whose run this release has not yet begun', async () => {
    await expect(create(cats).runners[0]!.check(LOW, ['cats'])).rejects.toMatchObject(refusal);
  });

  test('stays open when an operator begins the run again, and closes after a restore', async () => {
    await oneBatch(cats);
    await born(LOW, 3);
    await database.query({ text: 'update catch_up set done = false' });
    const [runner] = create(cats).runners;
    await runner!.check(LOW, ['cats']);
    await restartRuns(database, 'groom');
    await expect(runner!.check(LOW, ['cats'])).rejects.toMatchObject(refusal);
  });
});

describe('an operator', () => {
  test('begins finished runs again, and gets their progress until all have ended', async () => {
    await oneBatch(cats);
    await born(LOW, 3);
    const { start, handlers } = create({ ...cats, total: async () => 3 });
    await start();
    const runs = await startRuns(handlers, 'groom');
    expect(runs.at(-1)).toEqual({ task: 'groom', subject: 'cats', processed: 3, total: 3, done: true, complete: true });
    expect(runs.filter(({ done }) => done)).toHaveLength(1);
  });

  test('joins a run that is under way instead of beginning it again', async () => {
    await born(LOW, 3);
    await oneBatch(cats);
    const asked = Promise.withResolvers<void>();
    const { start, handlers } = create({ ...cats, next: async (tx, subject, after) => (await asked.promise, next(tx, subject, after)) });
    const starting = start();
    const runs = await startRuns(handlers, 'groom', asked.resolve);
    await starting;
    expect([runs[0], runs.at(-1)]).toMatchObject([
      { processed: 2, done: false },
      { processed: 3, done: true },
    ]);
    expect(await seen(LOW)).toBe(3);
  });

  test('gets the names of the service’s tasks after a wrong one', async () => {
    const refused = startRuns(create(cats).handlers, 'shear');
    await expect(refused).rejects.toMatchObject({ status: 400, details: [{ field: 'task', message: 'This service has groom.' }] });
  });
});
