// The two scheduling writes as an integrator uses them (api.md, decisions §5).
import { randomUUID } from 'node:crypto';
import * as line from '../services/scheduling/test/records.ts';
import { dispatchDesk, refusal, type DispatchDesk } from './support/dispatch.ts';
import { violations } from './support/openapi.ts';
import { startSystem, type System, type TestCompany } from './support/system.ts';

let system: System;
let desk: DispatchDesk;
let stranger: TestCompany;
const MISSING = '00000000-0000-4000-8000-000000000000';

beforeAll(async () => {
  system = await startSystem();
  desk = await dispatchDesk(system);
  stranger = await system.createCompany('Asia/Kathmandu');
}, 120_000);
afterAll(() => system.stop());

describe('adding a technician', () => {
  test('answers 201 with a Location and the visit exactly as a read returns it, and does not notify the customer', async () => {
    const visit = await desk.visit();
    const added = await desk.add(visit, { starts_at: '2026-03-02T09:00:00.000001-06:00' });
    expect(added.status).toBe(201);
    expect(violations('post', '/v1/job-assignments', 201, added.body)).toEqual([]);
    expect(added.body['notification']).toEqual({ status: 'NOT_REQUESTED', id: null });
    expect(JSON.stringify(added.body['data'])).toBe(JSON.stringify(await desk.read(visit['id'])));
    const [assignment] = added.body['data'].assignments;
    expect(assignment).toMatchObject({
      job_id: desk.job['id'],
      appointment_id: visit['id'],
      team_member: { id: desk.technicians[0], name: 'Dana Whitfield' },
      starts_at: '2026-03-02T15:00:00.000001Z',
      ends_at: '2026-03-02T16:00:00Z',
      status: 'TO_DO',
      updated_at: null,
    });
    expect(assignment.status_updated_at).toBe(assignment.created_at);
    expect(added.headers.get('location')).toBe(`/v1/job-assignments/${assignment.id}`);
    expect(added.headers.get('idempotent-replayed')).toBeNull();
    expect(added.headers.get('ratelimit-policy')).toMatch(/^"writes"/);
    expect(added.body['data']).toMatchObject({ dispatch_status: 'ASSIGNED', starts_at: visit['starts_at'], updated_at: visit['updated_at'] });
    expect((await system.get(desk.company, `/v1/job-assignments/${assignment.id}`)).body.data).toEqual(assignment);
  });

  test('answers with the id of the notification, by which the company alone reads what became of it', async () => {
    // The desk's account has no contact.
    const { body } = await desk.add(await desk.visit(), { customer_notification: {} });
    const { status, id } = body['notification'];
    const read = await system.get(desk.company, `/api/v1/integrations/notifications/${id}`);
    expect(violations('get', '/api/v1/integrations/notifications/{id}', 200, read.body)).toEqual([]);
    const reason = 'there is no contact';
    expect(read.body.data).toEqual({ id, status, channel: null, reason, createdAt: expect.any(String), finishedAt: expect.any(String) });
    expect(status).toBe('SUPPRESSED');
    for (const [of, wanted] of [
      [stranger, id],
      [desk.company, MISSING],
    ] as const) {
      expect((await system.get(of, `/api/v1/integrations/notifications/${wanted}`)).status).toBe(404);
    }
  });

  test('makes the visit and its job match filters by the technician until the assignment is removed', async () => {
    const job = line.job({ account: line.ref(desk.account['id']), location_id: desk.location['id'] });
    await desk.store('jobs', job);
    const visit = await desk.visit({ job_id: job['id'] });
    const member = desk.member({ name: 'Noor Haddad' });
    await desk.store('team-members', member);
    const ids = async (path: string): Promise<string[]> =>
      (await system.get(desk.company, `/v1/${path}?team_member_id=${member['id']}`)).body.data.map((record: { id: string }) => record.id);
    const added = await desk.add(visit, { team_member_id: member['id'] });
    expect([await ids('job-appointments'), await ids('jobs')]).toEqual([[visit['id']], [job['id']]]);
    const removed = await desk.remove(added.body['data'].assignments[0].id, added.body['data'].revision);
    expect(removed.status).toBe(200);
    expect([await ids('job-appointments'), await ids('jobs'), await ids('job-assignments')]).toEqual([[], [], []]);
  });

  test.each([
    ['a visit that is missing', { appointment_id: MISSING }],
    ['a team member who is missing', { team_member_id: MISSING }],
  ])('answers 404 for %s', async (_, fields) => {
    expect(refusal(await desk.add(await desk.visit(), fields)).slice(0, 2)).toEqual([404, 'NOT_FOUND']);
  });

  test.each([
    ['inactive', { status: 'INACTIVE' }],
    ['only invited', { status: 'INVITED' }],
    ['not assignable', { assignable: false }],
  ])('answers 404 for a team member who is %s', async (_, fields) => {
    const member = desk.member(fields);
    await desk.store('team-members', member);
    expect(refusal(await desk.add(await desk.visit(), { team_member_id: member['id'] })).slice(0, 2)).toEqual([404, 'NOT_FOUND']);
  });

  test('answers the same 404 for another company’s visit as for a missing one, and changes nothing', async () => {
    const visit = await desk.visit();
    const foreign = await desk.add(visit, {}, { company: stranger });
    const missing = await desk.add(visit, { appointment_id: MISSING }, { company: stranger });
    expect(refusal(foreign)).toEqual(refusal(missing));
    expect(foreign.body['error'].message).toBe(missing.body['error'].message);
    expect(await desk.read(visit['id'])).toEqual(visit);
  });

  test('answers a conflict for a canceled visit and for a technician already on it', async () => {
    const canceled = await desk.visit({ canceled: true });
    const reply = await desk.add(canceled);
    expect(refusal(reply)).toEqual([409, 'ASSIGNMENT_CONFLICT', 'ASSIGNMENT_CONFLICT', 'appointment_id']);
    expect(reply.body['error'].details[0].reason).toBe('VISIT_CANCELED');
    const added = await desk.add(await desk.visit());
    const again = await desk.add(added.body['data']);
    expect(refusal(again).slice(0, 2)).toEqual([409, 'ASSIGNMENT_CONFLICT']);
    expect(again.body['error'].details[0].reason).toBe('ALREADY_ASSIGNED');
  });

  test('accepts a technician whose earlier assignment was canceled, whatever the other assignments’ states', async () => {
    const visit = await desk.visit();
    const others = [
      ['CANCELED', 0],
      ['COMPLETED', 1],
      ['IN_PROGRESS', 2],
    ] as const;
    await desk.store(
      'job-assignments',
      ...others.map(([status, who]) =>
        line.assignment({ job_id: desk.job['id'], appointment_id: visit['id'], team_member: line.ref(desk.technicians[who]), status }),
      ),
    );
    const added = await desk.add(await desk.read(visit['id']));
    expect([added.status, added.body['data'].assignments.length]).toEqual([201, 4]);
  });

  test('enforces the arrival window, bounds included, unless the request overrides it', async () => {
    const visit = await desk.visit();
    const outside = [
      ['2026-03-02T13:59:59.999999Z', '2026-03-02T16:00:00Z', 'starts_at'],
      ['2026-03-02T15:00:00Z', '2026-03-02T18:00:00.000001Z', 'ends_at'],
      ['2026-03-02T19:00:00Z', '2026-03-02T20:00:00Z', 'starts_at'],
    ];
    for (const [starts_at, ends_at, field] of outside) {
      expect(refusal(await desk.add(visit, { starts_at, ends_at }))).toEqual([400, 'INVALID_REQUEST', 'OUTSIDE_ARRIVAL_WINDOW', field]);
    }
    const whole = await desk.add(visit, { starts_at: visit['window_start_at'], ends_at: visit['window_end_at'] });
    expect(whole.status).toBe(201);
    const late = { team_member_id: desk.technicians[1], starts_at: '2026-03-02T19:00:00Z', ends_at: '2026-03-02T20:00:00Z', allow_outside_window: true };
    expect((await desk.add(whole.body['data'], late)).status).toBe(201);
  });

  test('refuses a stale revision and returns the current one', async () => {
    const visit = await desk.visit();
    const stale = await desk.add(visit, { expected_revision: 'a'.repeat(64) });
    expect(refusal(stale)).toEqual([409, 'STALE_REVISION', 'STALE_REVISION', 'expected_revision']);
    expect(stale.body['error'].details[0].current_revision).toBe(visit['revision']);
    expect(violations('post', '/v1/job-assignments', 409, stale.body)).toEqual([]);
  });
});

describe('removing an assignment', () => {
  test('answers 200 with the visit’s state before the technician was added, and the assignment reads 404', async () => {
    const visit = await desk.visit();
    const added = await desk.add(visit);
    const { id } = added.body['data'].assignments[0];
    const removed = await desk.remove(id.toUpperCase(), added.body['data'].revision);
    expect(removed.status).toBe(200);
    expect(violations('delete', '/v1/job-assignments/{id}', 200, removed.body)).toEqual([]);
    expect(JSON.stringify(removed.body['data'])).toBe(JSON.stringify(visit));
    expect(removed.headers.get('location')).toBeNull();
    expect((await system.get(desk.company, `/v1/job-assignments/${id}`)).status).toBe(404);
    expect(refusal(await desk.remove(id, removed.body['data'].revision)).slice(0, 2)).toEqual([404, 'NOT_FOUND']);
  });

  test.each([
    ['EN_ROUTE', 409, 'ACTIVE'],
    ['IN_PROGRESS', 409, 'ACTIVE'],
    ['PAUSED', 409, 'ACTIVE'],
    ['COMPLETED', 409, 'COMPLETED'],
    ['TO_DO', 200, undefined],
    ['CANCELED', 200, undefined],
  ])('of status %s is answered with %i %s', async (status, expected, reason) => {
    const visit = await desk.visit();
    const assignment = line.assignment({ job_id: desk.job['id'], appointment_id: visit['id'], team_member: line.ref(desk.technicians[0]), status });
    await desk.store('job-assignments', assignment);
    const { revision } = await desk.read(visit['id']);
    const reply = await desk.remove(assignment['id'], revision);
    expect([reply.status, reply.body['error']?.details[0].reason]).toEqual([expected, reason]);
    if (reason !== undefined) expect(reply.body['error'].code).toBe('ASSIGNMENT_LOCKED');
  });

  test('still matches filters while the technician has another assignment on the job', async () => {
    const [first, second] = [await desk.visit(), await desk.visit()];
    const on = [await desk.add(first, { team_member_id: desk.technicians[2] }), await desk.add(second, { team_member_id: desk.technicians[2] })];
    const jobs = async (): Promise<number> =>
      (await system.get(desk.company, `/v1/jobs?ids=${desk.job['id']}&team_member_id=${desk.technicians[2]}`)).body.data.length;
    const leave = async (index: number): Promise<void> => {
      const { assignments, revision } = on[index]!.body['data'];
      expect((await desk.remove(assignments[0].id, revision)).status).toBe(200);
    };
    await leave(0);
    expect(await jobs()).toBe(1);
  });

  test('answers the same 404 for another company’s assignment as for a missing one', async () => {
    const added = await desk.add(await desk.visit());
    const { assignments, revision } = added.body['data'];
    expect(refusal(await desk.remove(assignments[0].id, revision, { company: stranger }))).toEqual(
      refusal(await desk.remove(MISSING, revision, { company: stranger })),
    );
    expect((await system.get(desk.company, `/v1/job-assignments/${assignments[0].id}`)).status).toBe(200);
  });
});

describe('validation of a write', () => {
  const cases: [string, Record<string, unknown>, string, string][] = [
    ['no revision', { expected_revision: undefined }, 'MISSING', 'expected_revision'],
    ['a null visit', { appointment_id: null }, 'MISSING', 'appointment_id'],
    ['a field of ours', { caller: { company_id: MISSING } }, 'UNKNOWN_FIELD', 'caller'],
    ['a flag that is null', { allow_outside_window: null }, 'INVALID_FORMAT', 'allow_outside_window'],
    ['a message without text', { customer_notification: { message: '' } }, 'OUT_OF_RANGE', 'customer_notification.message'],
    ['an unknown part of a notification', { customer_notification: { channel: 'EMAIL' } }, 'UNKNOWN_FIELD', 'customer_notification.channel'],
  ];
  test.each(cases)('refuses %s', async (_, fields, code, field) => {
    expect(refusal(await desk.add({ id: MISSING, revision: 'b'.repeat(64) }, fields))).toEqual([400, 'INVALID_REQUEST', code, field]);
  });

  test.each([
    ['none', null, 'MISSING'],
    ['of 7 characters', 'abcdefg', 'OUT_OF_RANGE'],
    ['of 129 characters', 'x'.repeat(129), 'OUT_OF_RANGE'],
    ['with a dot', 'abcdefgh.i', 'INVALID_FORMAT'],
  ])('refuses an Idempotency-Key: %s', async (_, key, code) => {
    expect(refusal(await desk.add(await desk.visit(), {}, { key }))).toEqual([400, 'INVALID_REQUEST', code, 'Idempotency-Key']);
  });

  test.each(['abcdefgh', 'x'.repeat(128), 'A-_9A-_9'])('accepts the Idempotency-Key %s', async (key) => {
    expect((await desk.add(await desk.visit(), {}, { key })).status).toBe(201);
  });

  test('refuses a body that is not JSON, not an object, or larger than 64 KB', async () => {
    const post = (raw: string, headers = {}) => desk.send('POST', '/v1/job-assignments', undefined, { raw, headers });
    for (const raw of ['[]', 'null', '"x"', '7']) expect(refusal(await post(raw))).toEqual([400, 'INVALID_REQUEST', 'INVALID_FORMAT', '(root)']);
    for (const raw of ['{', '{"a":}', 'a=b']) expect(refusal(await post(raw))).toEqual([400, 'INVALID_REQUEST', 'INVALID_FORMAT', 'body']);
    expect(refusal(await post('{}', { 'content-type': 'text/plain' }))[0]).toBe(400);
    expect(refusal(await post(`{"a":"${'x'.repeat(65_536)}"}`))).toEqual([400, 'INVALID_REQUEST', 'TOO_LARGE', 'body']);
    expect(refusal(await desk.send('DELETE', `/v1/job-assignments/${MISSING}`, {}))).toEqual([400, 'INVALID_REQUEST', 'MISSING', 'expected_revision']);
    expect(refusal(await desk.remove('dana', 'c'.repeat(64)))).toEqual([400, 'INVALID_REQUEST', 'INVALID_UUID', 'id']);
  });

  test('allows GET on the same path, and no other method', async () => {
    const reply = await desk.send('PATCH', '/v1/job-assignments', {});
    expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'GET, POST']);
  });
});

describe('the order of the checks', () => {
  test('is: authentication, size of the body, validation, idempotency key, missing records, state, window, revision', async () => {
    const visit = await desk.visit();
    const stale = 'd'.repeat(64);
    const stranger = { ...desk.company, apiKey: 'trk_nonsense' };
    const outside = { starts_at: '2026-03-02T12:00:00Z' };
    const large = `{"a":"${'x'.repeat(65_536)}"}`;
    expect(refusal(await desk.send('POST', '/v1/job-assignments', {}, { company: stranger, raw: large }))[0]).toBe(401);
    expect(refusal(await desk.send('POST', '/v1/job-assignments', {}, { key: 'x', raw: large }))[2]).toBe('TOO_LARGE');
    const used = randomUUID();
    await desk.add(await desk.visit(), {}, { key: used });
    expect(refusal(await desk.add(visit, { nonsense: 1 }, { key: used }))[2]).toBe('UNKNOWN_FIELD');
    expect(refusal(await desk.add(visit, { appointment_id: MISSING }, { key: used }))[1]).toBe('IDEMPOTENCY_KEY_REUSED');
    const canceled = await desk.visit({ canceled: true });
    expect(refusal(await desk.add(canceled, { ...outside, team_member_id: MISSING, expected_revision: stale }))[0]).toBe(404);
    expect(refusal(await desk.add(canceled, { ...outside, expected_revision: stale }))[1]).toBe('ASSIGNMENT_CONFLICT');
    expect(refusal(await desk.add(visit, { ...outside, expected_revision: stale }))[2]).toBe('OUTSIDE_ARRIVAL_WINDOW');
    expect(refusal(await desk.add(visit, { expected_revision: stale }))[1]).toBe('STALE_REVISION');
    expect(await desk.read(visit['id'])).toEqual(visit);
  });
});
