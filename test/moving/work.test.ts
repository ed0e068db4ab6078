// Work of scheduling and reporting for all companies does not change rows of a frozen one, and goes on for others. That of integrations is
// tested with its service.
import { Database, createSession, type DatabaseSession } from '@truckroll/postgres';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { freshDatabase, type TestDatabase } from '@truckroll/testing';
import { CatchUp } from '../../packages/catch-up/src/index.ts';
import { eraseNext } from '../../packages/erasure/src/people.ts';
import { removeNext } from '../../packages/erasure/src/remove.ts';
import { forgetEnded, giveUp } from '../../packages/mail/src/index.ts';
import { Publication } from '../../packages/record-store/src/index.ts';
import { schema as reporting } from '../../services/reporting/src/schema.ts';
import { DEFINITIONS } from '../../services/reporting/src/facts/definitions.ts';
import { refreshAfterSettings } from '../../services/reporting/src/jobs/after-settings.ts';
import { beginSums, sumRound } from '../../services/reporting/src/sums/task.ts';
import { purgeKeys } from '../../services/scheduling/src/assignments/idempotency.ts';
import { finish, postpone, take, type LeasedNotification } from '../../services/scheduling/src/notifications/store.ts';
import { tables } from '../../services/scheduling/src/resources/index.ts';
import { schema as scheduling } from '../../services/scheduling/src/schema.ts';
import { callsOf } from './freezing.ts';

const FROZEN = '0e37df36-f698-11e6-8dd4-cb9ced3df976';
const OTHER = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const DAYS = (count: number): string => `now() - interval '${count} days'`;

interface Work {
  readonly name: string;
  readonly of: typeof scheduling;
  /** SQL with the company. */
  readonly seed: string;
  /** SQL: rows of the company that the work takes. */
  readonly due: string;
  readonly work: (database: Database) => Promise<unknown>;
}

const notification = (columns: string, values: string): string =>
  `insert into notifications (company_id, id, appointment_id, job_id, account_id, contact_id, revision, channel, address, subject, message, ${columns})
    select $1::uuid, gen_random_uuid(), $1, $1, $1, $1, 'x', 'EMAIL', 'x', 'x', 'x', ${values}`;

const WORKS: readonly Work[] = [
  {
    name: 'the purge of idempotency keys',
    of: scheduling,
    seed: `insert into idempotency_keys (company_id, user_id, key, fingerprint, created_at) select $1::uuid, $1, 'x', '', ${DAYS(40)}`,
    due: 'select count(*) from idempotency_keys where company_id = $1',
    work: purgeKeys,
  },
  {
    name: 'messages that are due',
    of: scheduling,
    seed: notification('status', `'QUEUED'`),
    due: `select count(*) from notifications where company_id = $1 and status = 'QUEUED'`,
    work: (database) => take(database, 1, 1000),
  },
  {
    name: 'lost attempts of messages',
    of: scheduling,
    seed: notification('status, attempt_ends_at', `'ATTEMPTING', ${DAYS(1)}`),
    due: `select count(*) from notifications where company_id = $1 and status = 'ATTEMPTING'`,
    work: (database) => giveUp(database, 'notifications'),
  },
  {
    name: 'the deletion of old messages',
    of: scheduling,
    seed: notification('status, finished_at', `'SENT', ${DAYS(100)}`),
    due: `select count(*) from notifications where company_id = $1 and status = 'SENT'`,
    work: (database) => forgetEnded(database, 'notifications'),
  },
  {
    name: 'the publication of what an earlier release has changed',
    of: scheduling,
    seed: `insert into unpublished (path, company_id, id) select 'jobs', $1::uuid, $1`,
    due: 'select count(*) from unpublished where company_id = $1',
    async work(database) {
      const catchUp = new CatchUp({ database, log: silentLog, metrics: createMetrics('test') });
      const publication = new Publication({ database, tables, catchUp });
      publication.wakes({ poke: () => undefined });
      await catchUp.start();
      await catchUp.stop();
    },
  },
  {
    name: 'the beginning of sums',
    of: reporting,
    seed: `insert into companies (company_id, time_zone, costing_enabled, verified_only) select $1::uuid, 'America/Chicago', true, true`,
    due: 'select count(*) from companies c where c.company_id = $1 and not exists (select from summed s where s.company_id = c.company_id)',
    work: beginSums,
  },
  {
    name: 'the sums of days',
    of: reporting,
    seed: `insert into summed (company_id, report, time_zone, version, due_version, due_before)
      select $1::uuid, '${DEFINITIONS[0]!.name}', 'UTC', 1, 0, 'infinity' on conflict do nothing`,
    due: 'select (count(*) > 0)::int as count from summed where company_id = $1 and due_before is not null',
    work: (database) => sumRound(database),
  },
  {
    name: 'the refreshment of financials',
    of: reporting,
    seed: 'insert into financials_to_refresh (company_id) select $1::uuid on conflict do nothing',
    due: 'select count(*) from financials_to_refresh where company_id = $1',
    work: (database) => refreshAfterSettings(database),
  },
  {
    name: 'the erasure of people',
    of: reporting,
    seed: `insert into erased_people (company_id, kind, id, changed_at) select $1::uuid, 'accounts', $1, ${DAYS(1)}`,
    due: 'select count(*) from erased_people where company_id = $1 and not last',
    async work(database) {
      while (await eraseNext({ database, people: { steps: [] }, restored: { groups: [] } } as never));
    },
  },
  {
    name: 'the deletion of companies, one of which cannot be changed',
    of: reporting,
    seed: `with deleted as (insert into erased_companies (company_hash, id, closed_at)
        select sha256($1::uuid::text::bytea), $1, ${DAYS(1)})
      insert into names (company_id, kind, id, name, version) select $1::uuid, 'accounts', $1, 'x', 1`,
    due: 'select count(*) from names where company_id = $1',
    async work(database) {
      const removing = { database, own: [], restored: { states: [], groups: [] }, at: new Map(), clean: new Set(), said: new Map(), log: silentLog };
      while (await removeNext(removing as never).catch(() => false));
    },
  },
];

describe.each([scheduling, reporting])('$schema', (schema) => {
  let fresh: TestDatabase;
  let database: Database;
  let unhindered: DatabaseSession;
  beforeAll(async () => {
    fresh = await freshDatabase({ [schema.schema]: schema.migrations });
    database = new Database({ url: fresh.url, schema: schema.schema, maxConnections: 4, settings: schema.settings });
    // Without the triggers of the frozen company.
    unhindered = await createSession({ url: fresh.url, schema: schema.schema, settings: { session_replication_role: 'replica' } });
    const { freeze } = callsOf({ database, kafka: undefined as never, restored: { groups: [] } });
    expect(await freeze({ company_id: FROZEN })).toMatchObject({ state: { closed: true } });
  }, 60_000);
  afterAll(async () => {
    await unhindered?.close();
    await database?.close();
    await fresh?.drop();
  });
  const count = async (text: string, company: string): Promise<number> =>
    Number((await database.query<{ count: number }>({ text, values: [company] })).rows[0]!.count);

  test.each(WORKS.filter(({ of }) => of === schema))('$name', async ({ seed, due, work }) => {
    for (const company of [FROZEN, OTHER]) await unhindered.query({ text: seed, values: [company] });
    expect([await count(due, FROZEN), await count(due, OTHER)]).toEqual([1, 1]);
    await work(database);
    expect([await count(due, FROZEN), await count(due, OTHER)]).toEqual([1, 0]);
  });
});

test('a result of a message of a frozen company is left out', async () => {
  const fresh = await freshDatabase({ [scheduling.schema]: scheduling.migrations });
  const database = new Database({ url: fresh.url, schema: scheduling.schema, maxConnections: 2, settings: scheduling.settings });
  await database.query({ text: notification('status', `'ATTEMPTING'`), values: [FROZEN] });
  const { rows } = await database.query<{ id: string }>({ text: 'select id from notifications' });
  const { freeze } = callsOf({ database, kafka: undefined as never, restored: { groups: [] } });
  await freeze({ company_id: FROZEN });
  const lease = { companyId: FROZEN, id: rows[0]!.id } as LeasedNotification;
  expect(await database.transaction((tx) => finish(tx, lease, 'SENT', ''))).toBeUndefined();
  await database.transaction((tx) => postpone(tx, lease, 1, ''));
  await database.close();
  await fresh.drop();
});
