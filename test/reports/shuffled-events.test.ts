// Sums depend only on the owners' final records, not on the order, number or delay of events. Set REPORT_EVENTS=100000 for more of them.
import { randomUUID } from 'node:crypto';
import { codec, readMessage, resource, topics, type TopicDefinition } from '@truckroll/contract';
import { CompanyAccount } from '@truckroll/contract/gen/integrations/v1/admin';
import { generateCompany } from '@truckroll/demo-company';
import type { Database } from '@truckroll/postgres';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { openFreshDatabase } from '@truckroll/testing';
import fc from 'fast-check';
import { Subscriber, createKafka, type IncomingEvent } from '../../packages/outbox/src/index.ts';
import { importBatch } from '../../packages/record-store/src/index.ts';
import { readModelSubscriptions } from '../../services/reporting/src/read-models/index.ts';
import { tables } from '../../services/reporting/src/resources/index.ts';
import { transactionSettings, schema } from '../../services/reporting/src/schema.ts';
import { DEFINITIONS, measuresOf } from '../../services/reporting/src/facts/definitions.ts';
import { keysOf } from '../../services/reporting/src/sums/statements.ts';
import { sumRound, sumsTask, type SumsTask } from '../../services/reporting/src/sums/task.ts';
import { verifyReports } from '../../services/reporting/src/sums/verify.ts';
import { Chance } from '../../tools/cli/src/simulate/chance.ts';
import type { Json } from '../support/expected.ts';

const RUNS = 3;
const EVENTS = Math.ceil(Number(process.env['REPORT_EVENTS'] ?? 3000) / RUNS);
const BATCH = 500;
const DAY_MS = 86_400_000;

let database: Database;
let close: () => Promise<void>;
let task: SumsTask | undefined;
let subscriber: Subscriber;
let applied = 0;

beforeAll(async () => {
  ({ database, close } = await openFreshDatabase(schema, { settings: transactionSettings, maxConnections: 6 }));
  const metrics = createMetrics('reporting');
  // Events are passed in directly, so the subscriber is not started.
  const kafka = createKafka('test', { kafkaBrokers: ['127.0.0.1:1'] }, silentLog);
  subscriber = new Subscriber({ database, kafka, group: 'reporting', subscriptions: readModelSubscriptions(() => task?.look()), log: silentLog, metrics });
});
afterAll(async () => {
  await task?.stop();
  await close();
});

const templates = Object.fromEntries(
  generateCompany({ seed: 1, size: 20, timezone: 'America/Chicago', until: '2026-03-10T16:00:00Z' }).map(({ path, records }) => [
    path,
    [...records][0] as Json,
  ]),
);
const TOPICS: Record<string, TopicDefinition> = {
  jobs: topics.jobs,
  'job-assignments': topics.assignments,
  invoices: topics.invoices,
  payments: topics.payments,
  refunds: topics.refunds,
};
const PATHS = Object.keys(TOPICS);

interface Cast {
  ids: Record<string, string[]>;
  accounts: Json[];
  members: Json[];
}

function versionOf(path: string, id: string, { ids, accounts, members }: Cast, chance: Chance): Json | null {
  const one = <T>(of: readonly T[]): T => of[chance.below(of.length)] as T;
  const moment = (): string => new Date(Date.parse('2026-03-08T00:00:00Z') + (chance.below(800) - 400) * DAY_MS + chance.below(DAY_MS)).toISOString();
  const cents = chance.below(20) === 0 ? chance.below(2 ** 32) * 4096 : chance.below(90_000);
  const work = {
    account: one(accounts),
    business_unit: chance.below(4) === 0 ? null : one(accounts),
    job_type: chance.below(4) === 0 ? null : one(members),
    job_class: one(['SERVICE', 'INSTALL', null]),
  };
  const base = { ...templates[path], id };
  if (path === 'jobs') return { ...base, ...work, created_at: moment(), completed_at: chance.below(2) === 0 ? null : moment() };
  if (path === 'job-assignments') return chance.below(3) === 0 ? null : { ...base, job_id: one(ids['jobs']!), team_member: one(members) };
  if (path === 'payments')
    return {
      ...base,
      account: one(accounts),
      collected_by: one([...members, null]),
      method: one(['CARD', 'CASH']),
      status: one(['PAID', 'PAID', 'FAILED']),
      amount_cents: cents,
      occurred_at: moment(),
    };
  if (path === 'refunds')
    return {
      ...base,
      account: one(accounts),
      collected_by: one([...members, null]),
      payment_method: one(['CARD', 'CASH']),
      status: one(['SUCCEEDED', 'FAILED']),
      amount_cents: cents,
      occurred_at: moment(),
    };
  const amounts = {
    subtotal_cents: cents,
    discount_cents: chance.below(100),
    discounted_subtotal_cents: cents,
    tax_cents: chance.below(9000),
    total_cents: cents,
  };
  return {
    ...base,
    ...work,
    job_id: one(ids['jobs']!),
    status: one(['OPEN', 'PAID', 'PAID', 'DRAFT', 'VOIDED']),
    issued_at: chance.below(6) === 0 ? null : moment(),
    amounts,
  };
}

interface StateEvent {
  path: string;
  id: string;
  version: number;
  payload: Buffer | null;
}

function stateEvent(path: string, id: string, version: number, line: Json | null): StateEvent {
  const { record } = resource(path);
  const { value } = readMessage(record, line ?? {});
  return { path, id, version, payload: line === null ? null : Buffer.from(codec(record.typeName).encode(value).finish()) };
}

async function apply(company: string, events: readonly StateEvent[]): Promise<void> {
  for (const [path, ofTopic] of Map.groupBy(events, (event) => event.path)) {
    const topic = TOPICS[path]!.name;
    for (let start = 0; start < ofTopic.length; start += BATCH) {
      await subscriber.handle(
        ofTopic.slice(start, start + BATCH).map(
          ({ id, version, payload }): IncomingEvent => ({
            id: randomUUID(),
            type: 'changed',
            source: 'test',
            companyId: company,
            key: `${company}/${id}`,
            time: version,
            sequence: undefined,
            version,
            payload,
            topic,
            partition: 0,
            offset: '0',
            trace: undefined,
            requestId: undefined,
          }),
        ),
      );
    }
  }
  applied += events.length;
}

async function createCompany(cast: Cast): Promise<string> {
  const id = randomUUID();
  const payload = Buffer.from(
    CompanyAccount.encode({ ...CompanyAccount.decode(new Uint8Array()), id, name: 'Test', timezone: 'America/Sao_Paulo', costing_enabled: true }).finish(),
  );
  await subscriber.handle([
    {
      id: randomUUID(),
      type: 'changed',
      source: 'test',
      companyId: id,
      key: id,
      time: 1,
      sequence: undefined,
      version: 1,
      payload,
      topic: topics.companies.name,
      partition: 0,
      offset: '0',
      trace: undefined,
      requestId: undefined,
    },
  ]);
  const lines = cast.ids['jobs']!.map((job, n) => ({
    ...templates['job-financials'],
    id: job,
    costing: {
      tracking_status: n % 7 === 0 ? 'UNTRACKED' : 'TRACKED',
      verification_status: n % 2 === 0 ? 'VERIFIED' : 'UNVERIFIED',
      job_type_included: n % 3 !== 0,
    },
  }));
  const batch = { company_id: id, path: 'job-financials', first_line: 1, lines: lines.map((line) => Buffer.from(JSON.stringify(line))) };
  expect((await importBatch(database, tables, batch, { log: silentLog, requestId: 'test' })).problems).toEqual([]);
  return id;
}

async function sums(company: string): Promise<Record<string, string[]>> {
  while ((await sumRound(database, { quietMs: 0 })) > 0);
  const entries = DEFINITIONS.flatMap((definition) => (['sums', 'crosses'] as const).map((from) => ({ definition, from, table: definition[from] })));
  return Object.fromEntries(
    await Promise.all(
      entries.map(async ({ definition, from, table }) => {
        const columns = [...keysOf[from](definition), ...measuresOf(definition)].map((name) => `${name}::text`).join(', ');
        const { rows } = await database.query<Json>({ text: `select ${columns} from ${table} where company_id = $1`, values: [company] });
        return [table, rows.map((row) => JSON.stringify(row)).sort()] as const;
      }),
    ),
  );
}

test('computes the same sums from shuffled, repeated and late events as from the last event of each record', async () => {
  let drift = 0n;
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      const chance = new Chance(seed);
      const named = (n: number): Json[] => Array.from({ length: n }, (_, i) => ({ id: randomUUID(), name: `n${i}` }));
      const perPath = Math.max(1, Math.round(EVENTS / PATHS.length / 4));
      const ids = Object.fromEntries(PATHS.map((path) => [path, Array.from({ length: perPath }, () => randomUUID())]));
      const cast: Cast = { ids, accounts: named(12), members: named(5) };
      const histories = PATHS.flatMap((path) =>
        ids[path]!.map((id) =>
          Array.from({ length: 1 + chance.below(4) }, (_, version) => stateEvent(path, id, version + 1, versionOf(path, id, cast, chance))),
        ),
      );
      const last = histories.map((of) => of.at(-1) as StateEvent);

      const events = histories.flat();
      while (events.length < EVENTS) events.push(events[chance.below(events.length)] as StateEvent);
      for (let i = events.length - 1; i > 0; i -= 1) {
        const j = chance.below(i + 1);
        [events[i], events[j]] = [events[j] as StateEvent, events[i] as StateEvent];
      }
      const [shuffled, plain] = [await createCompany(cast), await createCompany(cast)];
      // In batches of different sizes, while a task that is notified of every change sums their days.
      task = sumsTask(database, silentLog, createMetrics('reporting'), 2 ** 31 - 1);
      await task.start?.();
      for (let start = 0; start < events.length; ) {
        const size = 1 + chance.below(2 * BATCH);
        await apply(shuffled, events.slice(start, start + size));
        start += size;
      }
      await apply(plain, last);
      // Rounds of the test leave out what a task is at.
      await task.stop();

      const [a, b] = [await sums(shuffled), await sums(plain)];
      expect(a).toEqual(b);
      expect(a['participation_sums']!.length).toBeGreaterThan(0);
      for await (const { differences } of verifyReports(database, shuffled, new AbortController().signal)) expect(differences).toEqual([]);
      drift += await driftOf(shuffled, last);
    }),
    { numRuns: RUNS },
  );
  process.stdout.write(`figures: ${JSON.stringify({ events: applied, drift_cents: Number(drift) })}\n`);
  expect(drift).toBe(0n);
}, 1_200_000);

async function driftOf(company: string, last: readonly StateEvent[]): Promise<bigint> {
  const { rows } = await database.query<{ paid: string; refunded: string; invoiced: string }>({
    text: `select (select coalesce(sum(received_cents), 0)::text from collection_sums where company_id = $1 and part = 'month') as paid,
      (select coalesce(sum(refunded_cents), 0)::text from collection_sums where company_id = $1 and part = 'day') as refunded,
      (select coalesce(sum(subtotal_cents), 0)::text from invoice_sums where company_id = $1 and part = 'account/day') as invoiced`,
    values: [company],
  });
  const records = (path: string): any[] =>
    last.flatMap((event) => (event.path === path && event.payload !== null ? [codec(resource(path).record.typeName).decode(event.payload)] : []));
  const total = (values: readonly number[]): bigint => values.reduce((sum, value) => sum + BigInt(value), 0n);
  const paid = total(
    records('payments')
      .filter(({ status }) => String(status).endsWith('_PAID'))
      .map(({ amount_cents }) => amount_cents),
  );
  const refunded = total(
    records('refunds')
      .filter(({ status }) => String(status).endsWith('_SUCCEEDED'))
      .map(({ amount_cents }) => amount_cents),
  );
  const invoiced = total(
    records('invoices')
      .filter(({ issued_at }) => issued_at != null)
      .map(({ amounts }) => amounts.subtotal_cents),
  );
  expect(paid).toBeGreaterThan(0n);
  const differences = [BigInt(rows[0]!.paid) - paid, BigInt(rows[0]!.refunded) - refunded, BigInt(rows[0]!.invoiced) - invoiced];
  return differences.reduce((sum, difference) => sum + (difference < 0n ? -difference : difference), 0n);
}
