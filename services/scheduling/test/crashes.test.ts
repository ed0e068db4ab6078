// If the connection is lost between any two statements of a write, either nothing or all of it is stored, and sending it again completes it (decisions §5).
import { randomUUID } from 'node:crypto';
import { ImportServiceService } from '@truckroll/contract/gen/records/v1/records';
import { AssignmentCommandServiceService } from '@truckroll/contract/gen/scheduling/v1/assignment_commands';
import { VisitServiceService, type Visit } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import { openChannel, type Channel } from '@truckroll/grpc';
import { Database } from '@truckroll/postgres';
import type { Service } from '@truckroll/process';
import { freshDatabase, testCallers, testConfig, withoutKafka, type TestDatabase } from '@truckroll/testing';
import { createScheduling } from '../src/scheduling.ts';
import { crashingProxy, type CrashingProxy, type Moment } from './crashing-proxy.ts';
import * as line from './records.ts';

const MOST_STATEMENTS = 30;
const companyId = randomUUID();
const caller = { company_id: companyId, time_zone: 'America/Chicago', user_id: randomUUID() };
const member = line.teamMember();
const job = line.job();
let fresh: TestDatabase;
let proxy: CrashingProxy;
let service: Service;
let channel: Channel;
let database: Database;

beforeAll(async () => {
  fresh = await freshDatabase({});
  const url = new URL(fresh.url);
  proxy = await crashingProxy({ host: url.hostname, port: Number(url.port) });
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  // This test reads events in the outbox.
  service = createScheduling({ ...testConfig, ...withoutKafka, databaseUrl: url.href });
  channel = openChannel(`127.0.0.1:${(await service.start()).port}`, { credentials: testCallers });
  database = new Database({ url: fresh.url, schema: 'scheduling', maxConnections: 2 });
  await store('team-members', member);
  await store('jobs', job);
}, 60_000);

afterAll(async () => {
  channel.close();
  await database.close();
  await service.destroy();
  proxy.close();
  await fresh.drop();
});

async function store(path: string, ...records: line.Line[]): Promise<void> {
  const requests = async function* () {
    yield { company_id: companyId, path, lines: records.map((record) => Buffer.from(JSON.stringify(record))), first_line: 1 };
  };
  for await (const { problems } of channel.client(ImportServiceService).import(requests())) expect(problems).toEqual([]);
}

async function newVisit(): Promise<Visit> {
  const visit = line.visit({ job_id: job['id'] });
  await store('job-appointments', visit);
  return read(visit['id']);
}

async function read(id: string): Promise<Visit> {
  return (await channel.client(VisitServiceService).getVisit({ key: { ...caller, id } })).data as Visit;
}

async function traces(visitId: string, key: string): Promise<number[]> {
  const { rows } = await database.query<Record<string, number>>({
    text: `select (select count(*) from job_assignments where appointment_id = $1) as assignments,
      (select count(*) from job_appointment_team_members where id = $1) as visit_team,
      (select count(*) from idempotency_keys where key = $2) as keys,
      (select count(*) from outbox where key like '%/' || $1::text) as events,
      (select event_sequence from job_appointments where id = $1) as sequence`,
    values: [visitId, key],
  });
  const { assignments, visit_team, keys, events, sequence } = rows[0]!;
  return [assignments!, visit_team!, keys!, events!, sequence!];
}

async function add(visit: Visit, key: string): Promise<Visit> {
  const times = { starts_at: visit.window_start_at, ends_at: visit.window_end_at, allow_outside_window: false };
  const asked = { expected_revision: visit.revision, appointment_id: visit.id, team_member_id: member['id'], customer_notification: null, ...times };
  return (await channel.client(AssignmentCommandServiceService).addAssignment({ caller, idempotency_key: key, ...asked })).data as Visit;
}

async function remove(visit: Visit, key: string): Promise<Visit> {
  const asked = { id: visit.assignments[0]!.id, expected_revision: visit.revision, customer_notification: null };
  return (await channel.client(AssignmentCommandServiceService).removeAssignment({ caller, idempotency_key: key, ...asked })).data as Visit;
}

const writes = {
  addition: { write: add, begin: newVisit, nothing: [0, 0, 0, 0, 0], everything: [1, 1, 1, 1, 1] },
  removal: { write: remove, begin: async () => add(await newVisit(), randomUUID()), nothing: [1, 1, 0, 1, 1], everything: [0, 0, 1, 2, 2] },
};
const cases = (Object.keys(writes) as (keyof typeof writes)[]).flatMap((name) => (['before', 'after'] as Moment[]).map((moment) => [name, moment] as const));

test.each(cases)('leaves nothing or everything of an %s that loses its connection %s any of its statements', async (name, moment) => {
  const { write, begin, nothing, everything } = writes[name];
  const outcomes = new Set<string>();
  let statement = 0;
  for (let reached = true; reached; statement++) {
    expect(statement).toBeLessThan(MOST_STATEMENTS);
    const visit = await begin();
    const key = randomUUID();
    const plan = proxy.arm(statement, moment);
    const outcome = await write(visit, key).then(
      () => 'answered',
      () => 'lost',
    );
    plan.disarm();
    reached = plan.reached;
    expect({ statement, outcome }).toEqual({ statement, outcome: reached ? 'lost' : 'answered' });

    const left = await traces(visit.id, key);
    expect([nothing, everything]).toContainEqual(left);
    if (!reached) expect(left).toEqual(everything);
    else outcomes.add(String(left));

    const settled = await write(visit, key);
    expect(await traces(visit.id, key)).toEqual(everything);
    expect(settled).toEqual(await read(visit.id));
  }
  expect(statement).toBeGreaterThan(5);
  // Only a lost answer to COMMIT leaves everything.
  expect([...outcomes].sort()).toEqual((moment === 'before' ? [nothing] : [nothing, everything]).map(String).sort());
});
