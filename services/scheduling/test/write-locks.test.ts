// Each test fails without its lock, or with another order of locks.
import { randomUUID } from 'node:crypto';
import { holdingLocks, type LockHolder } from '@truckroll/testing';
import { lockOf } from '../src/assignments/idempotency.ts';
import { refreshJobTeams } from '../src/resources/links.ts';
import { crewOf, twoIds, type Crew } from './crew.ts';
import { startHarness, type Harness } from './harness.ts';
import * as line from './records.ts';

let harness: Harness;
let crew: Crew;
beforeAll(async () => {
  harness = await startHarness();
  crew = await crewOf(harness);
}, 60_000);
afterAll(() => harness.stop());

const holding = <T>(work: (holder: LockHolder) => Promise<T>): Promise<T> => holdingLocks(harness.database.options, work);

const claim = (holder: LockHolder, key: string): Promise<unknown> =>
  holder.run(`insert into idempotency_keys (company_id, user_id, key, fingerprint) values ($1, $2, $3, '')`, [crew.company.id, crew.userId, key]);

const jobsOf = async (memberId: string): Promise<string[]> => (await crew.company.list('jobs', { team_member_id: [memberId] })).map(({ id }) => id);

const STALE = { status: 'rejected', reason: { code: 'STALE_REVISION', status: 409 } };

test('keys of two companies, of two users, and of two requests are locked apart', () => {
  const claimed = { companyId: 'a', userId: 'b', key: 'c', fingerprint: Buffer.alloc(0) };
  const claims = [claimed, ...['companyId', 'userId', 'key'].map((name) => ({ ...claimed, [name]: 'd' }))];
  expect(new Set(claims.map(lockOf)).size).toBe(4);
});

describe('a visit is changed by one write at a time', () => {
  test('the second of two additions sees what the first has stored', async () => {
    const visit = await crew.visit();
    const outcomes = await holding(async (holder) => {
      const key = randomUUID();
      await claim(holder, key);
      const first = crew.add(visit, crew.memberIds[0], key);
      await holder.waiting(1, first);
      const second = crew.add(visit, crew.memberIds[1]);
      await holder.waiting(2, second);
      await holder.rollback();
      return Promise.allSettled([first, second]);
    });
    expect(outcomes).toMatchObject([{ status: 'fulfilled' }, STALE]);
    expect((await crew.company.detail('job-appointments', visit.id)).assignments).toHaveLength(1);
  });

  test('the second of two removals sees what the first has stored', async () => {
    const visit = await crew.add(await crew.add(await crew.visit()), crew.memberIds[1]);
    const outcomes = await holding(async (holder) => {
      const key = randomUUID();
      await claim(holder, key);
      const first = crew.remove(visit, 0, key);
      await holder.waiting(1, first);
      const second = crew.remove(visit, 1);
      await holder.waiting(2, second);
      await holder.rollback();
      return Promise.allSettled([first, second]);
    });
    expect(outcomes).toMatchObject([{ status: 'fulfilled' }, STALE]);
    expect((await crew.company.detail('job-appointments', visit.id)).assignments).toMatchObject([{ id: visit.assignments[1]!.id }]);
  });
});

describe('the technicians of a job are derived under a lock of the job', () => {
  test('removing a technician from both visits of a job at once takes the technician off the job', async () => {
    const job = await crew.job();
    const one = await crew.add(await crew.visit(job['id']));
    const other = await crew.add(await crew.visit(job['id']));
    await holding(async (holder) => {
      const keys = [randomUUID(), randomUUID()] as const;
      for (const key of keys) await claim(holder, key);
      const first = crew.remove(one, 0, keys[0]);
      await holder.waiting(1, first);
      const second = crew.remove(other, 0, keys[1]);
      await holder.waiting(2, second);
      await holder.rollback();
      await Promise.all([first, second]);
    });
    expect(await jobsOf(crew.memberIds[0])).not.toContain(job['id']);
  });

  test('adding a technician to one visit of a job during a removal from the other keeps the technician on the job', async () => {
    const job = await crew.job();
    const one = await crew.add(await crew.visit(job['id']));
    const other = await crew.visit(job['id']);
    await holding(async (holder) => {
      const key = randomUUID();
      await claim(holder, key);
      const removal = crew.remove(one, 0, key);
      await holder.waiting(1, removal);
      const addition = crew.add(other);
      await holder.waiting(2, addition);
      await holder.rollback();
      await Promise.all([removal, addition]);
    });
    expect(await jobsOf(crew.memberIds[0])).toContain(job['id']);
  });

  test('an import waits for a write that holds the job, and sees its technicians', async () => {
    const job = await crew.job();
    const visit = await crew.add(await crew.visit(job['id']));
    await holding(async (holder) => {
      await holder.run('select from jobs where id = $1 for no key update', [job['id']]);
      const refresh = harness.database.transaction((tx) => refreshJobTeams(tx, crew.company.id, [job['id']]));
      await holder.waiting(1, refresh);
      await holder.run('delete from job_assignments where id = $1', [visit.assignments[0]!.id]);
      await holder.commit();
      await refresh;
    });
    expect(await jobsOf(crew.memberIds[0])).not.toContain(job['id']);
  });

  test('an import locks jobs in the order of their ids', async () => {
    const [low, high] = twoIds();
    await crew.company.store('jobs', line.job({ id: low }), line.job({ id: high }));
    await holding(async (holder) => {
      await holder.run('select from jobs where id = $1 for no key update', [low]);
      const refresh = harness.database.transaction((tx) => refreshJobTeams(tx, crew.company.id, [high, low]));
      await holder.waiting(1, refresh);
      expect(await holder.isFree('jobs', high)).toBe(true);
      await holder.rollback();
      await refresh;
    });
  });
});

describe('visits are locked before what changes with them, in the order of their ids', () => {
  test('by an import of their job', async () => {
    const job = await crew.job();
    const [low, high] = twoIds();
    for (const id of [high, low]) await crew.visit(job['id'], id);
    await holding(async (holder) => {
      await holder.run('select from job_appointments where id = $1 for no key update', [low]);
      const stored = crew.company.store('jobs', { ...job, number: 'J-2' });
      await holder.waiting(1, stored);
      expect([await holder.isFree('job_appointments', high), await holder.isFree('jobs', job['id'])]).toEqual([true, true]);
      await holder.rollback();
      await stored;
    });
  });

  test.each(['leaves the visit with the lower id', 'comes to the visit with the lower id'])('by an import of an assignment that %s', async (which) => {
    const [low, high] = twoIds();
    for (const id of [high, low]) await crew.visit(undefined, id);
    const [from, to] = which.startsWith('leaves') ? [low, high] : [high, low];
    const assignment = line.assignment({ appointment_id: from });
    await crew.company.store('job-assignments', assignment);
    await holding(async (holder) => {
      await holder.run('select from job_appointments where id = $1 for no key update', [low]);
      const stored = crew.company.store('job-assignments', { ...assignment, appointment_id: to });
      await holder.waiting(1, stored);
      expect([await holder.isFree('job_appointments', high), await holder.isFree('job_assignments', assignment['id'])]).toEqual([true, true]);
      await holder.rollback();
      await stored;
    });
  });

  test('by a removal: its visit before its job', async () => {
    const job = await crew.job();
    const visit = await crew.add(await crew.visit(job['id']));
    await holding(async (holder) => {
      await holder.run('select from job_appointments where id = $1 for no key update', [visit.id]);
      const removal = crew.remove(visit);
      await holder.waiting(1, removal);
      expect([await holder.isFree('jobs', job['id']), await holder.isFree('job_assignments', visit.assignments[0]!.id)]).toEqual([true, true]);
      await holder.rollback();
      await removal;
    });
  });

  test('by an addition: its visit before its job', async () => {
    const job = await crew.job();
    const visit = await crew.visit(job['id']);
    await holding(async (holder) => {
      await holder.run('select from job_appointments where id = $1 for no key update', [visit.id]);
      const addition = crew.add(visit);
      await holder.waiting(1, addition);
      expect(await holder.isFree('jobs', job['id'])).toBe(true);
      await holder.rollback();
      await addition;
    });
  });
});
