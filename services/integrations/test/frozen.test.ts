// While a company is frozen, work for all companies does not change its rows and goes on for others; afterwards it continues with them.
import { randomBytes, randomUUID } from 'node:crypto';
import { now, topics } from '@truckroll/contract';
import type { DeadLetter, LeasedDelivery } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { CompanyAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { FreezeServiceService, type FreezeState } from '@truckroll/contract/gen/records/v1/freezes';
import { openChannel, type Channel } from '@truckroll/grpc';
import { forgetEnded, giveUp } from '@truckroll/mail';
import { createKafka, ensureTopics } from '@truckroll/outbox';
import type { Database } from '@truckroll/postgres';
import { KeyRing } from '@truckroll/process';
import { silentLog } from '@truckroll/telemetry';
import { testCallers } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { touchKeys } from '../src/identity/authenticate.ts';
import { purgeRevokedKeys } from '../src/keys/store.ts';
import { finish, postpone, suppress, take, type Mail } from '../src/mails/store.ts';
import { RequestKeeper, insertChunks } from '../src/request-log/store.ts';
import { removeExpired } from '../src/webhooks/endpoints/expiry.ts';
import { createSecretBox } from '../src/webhooks/endpoints/secrets.ts';
import { sendAlerts } from '../src/webhooks/health/alerts.ts';
import { keepCounts } from '../src/webhooks/health/count-store.ts';
import { recoveries } from '../src/webhooks/queue/recover.ts';
import { startDesk } from './webhooks.ts';

type Endpoint = Awaited<ReturnType<typeof desk.endpoint>>;

let desk: Awaited<ReturnType<typeof startDesk>>;
let database: Database;
let channel: Channel;
let frozen: Endpoint;
let other: Endpoint;
const keys = new Map<Endpoint, string>();
const leased: LeasedDelivery[] = [];

const freezes = () => channel.client(FreezeServiceService);
const freezeCompany = () => channel.client(CompanyAdminServiceService).freezeCompany({ id: frozen.company.id });
/** Repeats the call until the topics have been made. */
const freeze = async (): Promise<FreezeState> => {
  const ask = async () =>
    await freezes()
      .freeze({ company_id: frozen.company.id })
      .then(
        ({ state }) => state,
        (error: { status: number }) => error.status,
      );
  return (await until('an answer', ask, (state) => typeof state !== 'number' && state?.waits_for?.includes('does not show') !== true)) as FreezeState;
};
const letterOf = (of: Endpoint, offset: number): DeadLetter => ({
  id: 0,
  topic: topics.serviceRequests.name,
  partition: 0,
  log_offset: String(offset),
  event_id: randomUUID(),
  type: 'service_request.reopened',
  source: '/truckroll/scheduling',
  company_id: of.company.id,
  key: '',
  time: now(),
  sequence: 1,
  version: 1,
  payload: null,
  reason: 'unknown',
  request_id: null,
  traceparent: null,
});
const deadLetters = async (after: number): Promise<DeadLetter[]> => (await desk.deliveries.readDeadLetters({ after })).letters;
/** The last dead letter that the dispatcher has read. */
let passed = 0;
const count = async (text: string, of: Endpoint): Promise<number> => Number((await desk.sql(text, [of.company.id]))[0]!['count']);

interface Work {
  readonly name: string;
  /** SQL with the company, its endpoint and its user. */
  readonly seed: string;
  /** SQL: rows of the company that the work takes. */
  readonly due: string;
  readonly work: () => Promise<unknown>;
}

const endpointWith = (columns: string, values: string): string =>
  `insert into webhook_endpoints (id, company_id, created_by, name, url, event_types, enabled, secret, ${columns})
    select gen_random_uuid(), $1, $3, 'x', 'https://example.com', '{service_request.created}', true, secret, ${values} from webhook_endpoints where id = $2`;
const mailWith = (columns: string, values: string): string =>
  `insert into mails (company_id, user_id, subject, body, due_at, ${columns}) values ($1, $3, 'x', $2::text, now() + interval '1 day', ${values})`;
const recovering = async (): Promise<void> => {
  const { due } = recoveries(database);
  while (await due!(new AbortController().signal));
};

const WORKS: readonly Work[] = [
  {
    name: 'the purge of revoked keys',
    seed: `insert into api_keys (id, company_id, user_id, created_by_kind, name, hash, key_prefix, key_suffix, revoked_at)
      select gen_random_uuid(), $1, $3, 'OPERATOR', $2::text, sha256(gen_random_uuid()::text::bytea), 'abcdefgh', 'abcd', now() - interval '40 days'`,
    due: 'select count(*) from api_keys where company_id = $1 and revoked_at is not null',
    work: () => purgeRevokedKeys(database),
  },
  {
    name: 'the merging of counts',
    seed: `insert into webhook_counts (company_id, endpoint_id, at, minutes, delivered, failed, latencies)
      select $1, coalesce($2, $3), date_trunc('minute', now()) - interval '3 hours', 1, 1, 0, array_fill(0, array[21])`,
    due: `select count(*) from webhook_counts where company_id = $1 and minutes = 1 and at < now() - interval '2 hours'`,
    work: () => keepCounts(database, now()),
  },
  {
    name: 'the removal of endpoints whose time has come',
    seed: endpointWith('expires_at', `now() - interval '1 minute'`),
    due: 'select count(*) from webhook_endpoints where company_id = $1 and expires_at < now() and deleted_at is null',
    work: () => removeExpired(database, createSecretBox(new KeyRing([['k1', randomBytes(32)]]))),
  },
  {
    name: 'alerts about endpoints',
    seed: endpointWith('failing_since', `now() - interval '2 hours'`),
    due: 'select count(*) from webhook_endpoints where company_id = $1 and failing_since is not null and alerted_at is null',
    work: () => sendAlerts(database),
  },
  {
    name: 'e-mails to inactive users',
    seed: `with gone as (insert into users (id, company_id, subject, email, first_name, last_name, active)
        values (gen_random_uuid(), $1, gen_random_uuid()::text, $2::text, 'x', $3::text, false) returning id)
      insert into mails (company_id, user_id, subject, body) select $1, id, 'inactive', 'x' from gone`,
    due: `select count(*) from mails where company_id = $1 and subject = 'inactive' and status = 'QUEUED'`,
    work: () => suppress(database),
  },
  {
    name: 'lost attempts of e-mails',
    seed: mailWith('status, attempt_ends_at', `'ATTEMPTING', now() - interval '1 minute'`),
    due: `select count(*) from mails where company_id = $1 and status = 'ATTEMPTING' and attempt_ends_at < now()`,
    work: () => giveUp(database, 'mails'),
  },
  {
    name: 'the deletion of old e-mails',
    seed: mailWith('status, finished_at', `'SENT', now() - interval '100 days'`),
    due: `select count(*) from mails where company_id = $1 and finished_at < now() - interval '99 days'`,
    work: () => forgetEnded(database, 'mails'),
  },
  {
    name: 'the deletion of old requests',
    seed: `insert into request_log (company_id, key_id, first_at, last_at, failed, count, requests)
      select $1, coalesce($2, $3), now() - interval '9 days', now() - interval '9 days', false, 1, ''`,
    due: "select count(*) from request_log where company_id = $1 and last_at < now() - interval '8 days'",
    work: () => new RequestKeeper(database, silentLog).trimAll(new AbortController().signal),
  },
  {
    name: 'the recovery of skipped events',
    seed: `insert into webhook_recoveries (company_id, endpoint_id, since, until, skipped_since) select $1, $2, now(), now(), now() where $3::uuid is not null`,
    due: 'select count(*) from webhook_recoveries where company_id = $1',
    work: recovering,
  },
  {
    name: 'sending again',
    seed: `insert into webhook_replays (company_id, endpoint_id, since, until, delivered)
      select $1, $2, now() - interval '1 hour', now() - interval '59 minutes', false where $3::uuid is not null`,
    due: 'select count(*) from webhook_replays where company_id = $1',
    work: recovering,
  },
  {
    name: 'the end of a resumption',
    seed: endpointWith('resuming', 'true'),
    due: 'select count(*) from webhook_endpoints where company_id = $1 and resuming',
    work: recovering,
  },
  {
    name: 'what waits too long for paused endpoints',
    seed: `with paused as (${endpointWith('paused_at', `now() - interval '7 days'`)} returning id)
      insert into webhook_queue (delivery_id, day, company_id, endpoint_id, subject, sequence, due_at)
      select gen_random_uuid(), current_date, $1, id, 'paused', 1, now() - interval '6 days' from paused`,
    due: `select count(*) from webhook_queue where company_id = $1 and subject = 'paused'`,
    work: recovering,
  },
];

beforeAll(async () => {
  desk = await startDesk();
  database = desk.openDatabase();
  channel = openChannel(`127.0.0.1:${desk.port()}`, { credentials: testCallers });
  // Scheduling makes it.
  const kafka = createKafka('test', { kafkaBrokers: process.env['KAFKA_BROKERS']!.split(','), kafkaPrefix: desk.kafkaPrefix }, silentLog);
  await ensureTopics(kafka, [topics.serviceRequests], silentLog, new AbortController().signal);
  [frozen, other] = [await desk.endpoint(), await desk.endpoint()];
  for (const each of [frozen, other]) {
    const limits = { reads_per_minute: null, reports_per_minute: null, writes_per_minute: null };
    const { key } = await desk.keys.createKey({ company_id: each.company.id, user_id: each.user.id, name: 'of a test', limits });
    keys.set(each, key!.id);
  }
  await desk.fanOut(frozen.event(), other.event());
  leased.push(...(await desk.lease()));
  await desk.fanOut(frozen.event(), other.event());
  await freezeCompany();
}, 60_000);
afterAll(async () => {
  channel?.close();
  await desk?.stop();
});

test('waits for webhooks that are being sent, and leases no others of the company', async () => {
  expect(leased).toHaveLength(2);
  expect(await freeze()).toMatchObject({ closed: false, waits_for: 'webhooks that are being sent' });
  expect((await desk.lease()).map(({ company_id }) => company_id)).toEqual([other.company.id]);
  expect(await freezeCompany()).toMatchObject({ waits_for: 'webhooks that are being sent' });
  // Its worker was killed.
  await desk.deliveries.renew({ worker_id: 'another', leaving: false });
  await desk.sql(
    `insert into webhook_workers (id, seen_at) select distinct worker, now() - interval '1 minute' from webhook_queue
      where company_id = $1 and leased_until is not null on conflict (id) do update set seen_at = excluded.seen_at`,
    [frozen.company.id],
  );
  await desk.deliveries.renew({ worker_id: 'another', leaving: false });
  expect((await freezeCompany()).waits_for).toBeNull();
  for (const { seed } of WORKS)
    for (const each of [frozen, other]) await desk.sql(seed.replaceAll(/\$([123])/g, '$$$1::uuid'), [each.company.id, each.id, each.user.id]);
  expect(await freeze()).toEqual(expect.objectContaining({ closed: true }));
});

test('leaves out late results of a frozen company, and stores those of others in the same call', async () => {
  const { answers } = await desk.deliveries.reportAll({
    attempts: leased.map((delivery) => ({
      delivery_id: delivery.delivery_id,
      lease_token: delivery.lease_token,
      response_status: 200,
      error: 'ATTEMPT_ERROR_UNSPECIFIED' as never,
      error_message: '',
      started_at: now() - 1000,
      ended_at: now(),
      request_headers: [],
      response_headers: [],
      // Beyond what no budget counts.
      response_body: Buffer.alloc(5000, 'x'),
      response_truncated: false,
      retry_after_seconds: null,
      resolved_address: null,
    })),
  });
  expect(answers.map(({ unknown }) => unknown)).toEqual(leased.map(({ company_id }) => company_id === frozen.company.id));
  const states = await desk.sql('select company_id, state from webhook_deliveries where id = any($1)', [leased.map(({ delivery_id }) => delivery_id)]);
  expect(new Map(states.map(({ company_id, state }) => [company_id, state]))).toEqual(
    new Map([
      [frozen.company.id, 'PENDING'],
      [other.company.id, 'SUCCEEDED'],
    ]),
  );
});

test('leaves out last uses, requests and results of e-mails of a frozen company', async () => {
  const [used_at, key_id] = [now(), randomUUID()];
  await touchKeys(
    database,
    [frozen, other].map((each) => ({ company_id: each.company.id, key_id: keys.get(each)!, used_at })),
  );
  const chunk = { key_id, first_at: used_at, last_at: used_at, failed: false, count: 1, requests: Buffer.alloc(0) };
  await insertChunks(
    database,
    [frozen, other].map((each) => ({ ...chunk, company_id: each.company.id })),
  );
  const mails = await desk.sql(`select message_id as id from mails where company_id = $1 and status = 'ATTEMPTING'`, [frozen.company.id]);
  expect(mails).toHaveLength(1);
  await finish(database, mails[0] as Mail, 'SENT', '');
  await postpone(database, mails[0] as Mail, 1, '');
  const found = async (each: Endpoint) => [
    await count('select count(last_used_at) from api_keys where company_id = $1', each),
    await count(`select count(*) from request_log where company_id = $1 and last_at > now() - interval '1 hour'`, each),
  ];
  expect([await found(frozen), await found(other)]).toEqual([
    [0, 0],
    [1, 1],
  ]);
});

test.each(WORKS)('$name goes on for others only', async ({ due, work }) => {
  expect(await count(due, frozen)).toBe(1);
  await work();
  expect([await count(due, frozen), await count(due, other)]).toEqual([1, 0]);
});

test('shows the dispatcher no dead letters of a frozen company, and those of others', async () => {
  await desk.deliveries.setAside({ letters: [letterOf(frozen, 1), letterOf(frozen, 2), letterOf(other, 3)] });
  const letters = await deadLetters(0);
  expect(letters.map(({ log_offset }) => log_offset)).toEqual(['3']);
  passed = letters[0]!.id;
});

test('takes everything up after the end', async () => {
  const company_id = frozen.company.id;
  await expect(freezes().removeFences({ company_id })).rejects.toMatchObject({ status: 409 });
  await freezes().unfreeze({ company_id });
  await channel.client(CompanyAdminServiceService).unfreezeCompany({ id: company_id });
  expect(await freezes().removeFences({ company_id })).toEqual({ tables: [] });
  expect(await desk.sql(`select tgname from pg_trigger where tgname like 'frozen%'`)).toEqual([]);
  expect(await freezes().getFreeze({ company_id })).toMatchObject({ state: { begun: false, closed: false } });
  expect((await deadLetters(passed)).map(({ log_offset }) => log_offset)).toEqual(['1', '2']);
  for (const { work } of WORKS) await work();
  for (const { name, due } of WORKS) expect([name, await count(due, frozen)]).toEqual([name, 0]);
  await take(database, 1, 1000);
  expect((await desk.lease()).map((each) => each.company_id)).toContain(company_id);
});
