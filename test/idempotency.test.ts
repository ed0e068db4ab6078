// Repeated and concurrent writes (api.md, "Rules shared by both scheduling writes"; decisions §5).
import { randomUUID } from 'node:crypto';
import { KeyAdminServiceService, UserAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import * as line from '../services/scheduling/test/records.ts';
import { dispatchDesk, refusal, type DispatchDesk, type Reply } from './support/dispatch.ts';
import { startSystem, type System, type TestCompany } from './support/system.ts';

let system: System;
let desk: DispatchDesk;

beforeAll(async () => {
  system = await startSystem();
  desk = await dispatchDesk(system);
}, 120_000);
afterAll(() => system.stop());

const repeated = ({ status, headers, body }: Reply): unknown => [status, headers.get('location'), JSON.stringify(body['data']), body['notification']];

async function secondKey({ id }: TestCompany, userId?: string): Promise<string> {
  const integrations = system.channel('integrations');
  const email = `${randomUUID()}@example.com`;
  const user =
    userId ?? (await integrations.client(UserAdminServiceService).createUser({ company_id: id, email, first_name: 'Bo', last_name: 'Lind' })).user!.id;
  const limits = { reads_per_minute: 100_000, reports_per_minute: 100_000, writes_per_minute: 100_000 };
  return (await integrations.client(KeyAdminServiceService).createKey({ company_id: id, user_id: user, name: 'second', limits })).value;
}

describe('a repeated write', () => {
  test('repeats status, Location, data and notification with fresh meta, marks the answer as a replay, and changes nothing', async () => {
    const visit = await desk.visit();
    const key = randomUUID();
    const [first, again] = [await desk.add(visit, {}, { key }), await desk.add(visit, {}, { key })];
    expect(repeated(again)).toEqual(repeated(first));
    expect([first.status, first.headers.get('idempotent-replayed'), again.headers.get('idempotent-replayed')]).toEqual([201, null, 'true']);
    expect(again.body['meta'].request_id).not.toBe(first.body['meta'].request_id);
    expect(again.headers.get('x-request-id')).toBe(again.body['meta'].request_id);
    expect((await desk.read(visit['id']))['revision']).toBe(first.body['data'].revision);

    const removal = randomUUID();
    const { assignments, revision } = first.body['data'];
    const [removed, removedAgain] = [
      await desk.remove(assignments[0].id, revision, { key: removal }),
      await desk.remove(assignments[0].id, revision, { key: removal }),
    ];
    expect([removed.status, repeated(removedAgain)]).toEqual([200, repeated(removed)]);
    expect(removedAgain.headers.get('idempotent-replayed')).toBe('true');
  });

  test('keeps its snapshot after the visit, its assignments and the technician’s name have changed', async () => {
    const visit = await desk.visit();
    const member = desk.member({ name: 'Ana Silva' });
    await desk.store('team-members', member);
    const key = randomUUID();
    const fields = { team_member_id: member['id'] };
    const first = await desk.add(visit, fields, { key });
    await desk.store('team-members', { ...member, name: 'Ana Souza' });
    await desk.add(first.body['data'], { team_member_id: desk.technicians[1] });
    const again = await desk.add(visit, fields, { key });
    expect(repeated(again)).toEqual(repeated(first));
    expect((await desk.read(visit['id']))['assignments']).toHaveLength(2);
  });

  test('is the same request even when its values are spelled differently', async () => {
    const visit = await desk.visit();
    const key = randomUUID();
    const first = await desk.add(visit, {}, { key });
    const spellings = [
      { starts_at: '2026-03-02T09:00:00-06:00' },
      { starts_at: '2026-03-02T15:00:00.000Z', ends_at: '2026-03-02T16:00:00+0000' },
      { team_member_id: desk.technicians[0].toUpperCase() },
      { allow_outside_window: false, customer_notification: null },
    ];
    for (const fields of spellings) expect(repeated(await desk.add(visit, fields, { key }))).toEqual(repeated(first));
  });

  test('is refused if its key was used for another body, visit, assignment or operation', async () => {
    const visit = await desk.visit();
    const key = randomUUID();
    const first = await desk.add(visit, {}, { key });
    const { assignments, revision } = first.body['data'];
    const other = await desk.visit();
    const others = [
      await desk.add(visit, { ends_at: '2026-03-02T16:00:01Z' }, { key }),
      await desk.add(visit, { allow_outside_window: true }, { key }),
      await desk.add(visit, { customer_notification: {} }, { key }),
      await desk.add(visit, { appointment_id: other['id'] }, { key }),
      await desk.remove(assignments[0].id, revision, { key }),
    ];
    for (const reply of others) expect(refusal(reply)).toEqual([409, 'IDEMPOTENCY_KEY_REUSED', 'IDEMPOTENCY_KEY_REUSED', 'Idempotency-Key']);
    const removal = randomUUID();
    expect((await desk.remove(assignments[0].id, revision, { key: removal })).status).toBe(200);
    expect(refusal(await desk.remove(randomUUID(), revision, { key: removal }))[1]).toBe('IDEMPOTENCY_KEY_REUSED');
  });

  test('may use its key again after a refusal, because only successes are stored', async () => {
    const visit = await desk.visit();
    const key = randomUUID();
    expect((await desk.add(visit, { expected_revision: 'e'.repeat(64) }, { key })).status).toBe(409);
    expect((await desk.add(visit, { ends_at: '2026-03-02T20:00:00Z' }, { key })).status).toBe(400);
    const added = await desk.add(visit, {}, { key });
    expect([added.status, added.headers.get('idempotent-replayed')]).toEqual([201, null]);
  });

  test('belongs to its company and its user, not to one of the user’s API keys', async () => {
    const key = randomUUID();
    const visit = await desk.visit();
    const first = await desk.add(visit, {}, { key });
    const sameUser = { ...desk.company, apiKey: await secondKey(desk.company, desk.company.userId) };
    const otherUser = { ...desk.company, apiKey: await secondKey(desk.company) };
    expect(repeated(await desk.add(visit, {}, { key, company: sameUser }))).toEqual(repeated(first));
    expect(refusal(await desk.add(visit, {}, { key, company: otherUser }))[1]).toBe('ASSIGNMENT_CONFLICT');
    const elsewhere = await dispatchDesk(system);
    expect((await elsewhere.add(await elsewhere.visit(), {}, { key })).headers.get('idempotent-replayed')).toBeNull();
  });

  test('commits once and gets the same answer when 32 clients send it concurrently', async () => {
    const visit = await desk.visit();
    const key = randomUUID();
    const replies = await Promise.all(Array.from({ length: 32 }, () => desk.add(visit, {}, { key })));
    expect(new Set(replies.map((reply) => JSON.stringify(repeated(reply)))).size).toBe(1);
    expect(replies[0]?.status).toBe(201);
    expect(replies.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1);
    expect((await desk.read(visit['id']))['assignments']).toHaveLength(1);

    const { assignments, revision } = replies[0]!.body['data'];
    const removals = await Promise.all(Array.from({ length: 32 }, () => desk.remove(assignments[0].id, revision, { key: `${key}-remove` })));
    expect(new Set(removals.map((reply) => JSON.stringify(repeated(reply)))).size).toBe(1);
    expect(removals.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1);
  });
});

describe('concurrent writes to one visit', () => {
  test('let exactly one write win per revision and give the others the new revision', async () => {
    const visit = await desk.visit();
    const members = Array.from({ length: 12 }, (_, i) => desk.member({ name: `Member ${i}` }));
    await desk.store('team-members', ...members);
    const replies = await Promise.all(members.map(({ id }) => desk.add(visit, { team_member_id: id })));
    const [won, lost] = [replies.filter(({ status }) => status === 201), replies.filter(({ status }) => status !== 201)];
    expect([won.length, lost.length]).toEqual([1, 11]);
    for (const reply of lost) {
      expect(refusal(reply)[1]).toBe('STALE_REVISION');
      expect(reply.body['error'].details[0].current_revision).toBe(won[0]?.body['data'].revision);
    }
  });

  test('all succeed eventually when each retries with the revision it received', async () => {
    const visit = await desk.visit();
    const members = Array.from({ length: 8 }, (_, i) => desk.member({ name: `Member ${i}` }));
    await desk.store('team-members', ...members);
    await Promise.all(
      members.map(async ({ id }) => {
        for (let revision = visit['revision'] as string; ; ) {
          const reply = await desk.add(visit, { team_member_id: id, expected_revision: revision });
          if (reply.status === 201) return;
          revision = reply.body['error'].details[0].current_revision;
        }
      }),
    );
    const { assignments } = await desk.read(visit['id']);
    expect(new Set(assignments.map(({ team_member }: line.Line) => team_member.id)).size).toBe(8);
  });

  test('remove an assignment once: the second request finds it missing', async () => {
    const added = await desk.add(await desk.visit());
    const { assignments, revision } = added.body['data'];
    const replies = await Promise.all([1, 2, 3, 4].map(() => desk.remove(assignments[0].id, revision)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404]);
  });

  test('are consistent with a concurrent import of the same visit’s assignments', async () => {
    const visit = await desk.visit();
    const imported = desk.technicians.slice(1).map((id) => line.assignment({ job_id: desk.job['id'], appointment_id: visit['id'], team_member: line.ref(id) }));
    const adding = (async () => {
      for (let revision = visit['revision'] as string; ; ) {
        const reply = await desk.add(visit, { expected_revision: revision });
        if (reply.status === 201) return;
        expect(refusal(reply)[1]).toBe('STALE_REVISION');
        revision = reply.body['error'].details[0].current_revision;
      }
    })();
    await Promise.all([adding, ...imported.map((one) => desk.store('job-assignments', one))]);
    const read = await desk.read(visit['id']);
    expect(read['assignments'].map(({ team_member }: line.Line) => team_member.id).sort()).toEqual([...desk.technicians].sort());
  });
});
