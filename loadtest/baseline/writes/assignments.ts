// The two scheduling writes as a careful user of pg would write them: one transaction claims the idempotency key, locks the visit,
// checks the rules, and stores the change, its outbox rows and the answer.
import { createHash, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { ADD, ANSWER, ANSWERED, APPEND, ASSIGNMENTS, CHANGE_VISIT, CLAIM, HOLD_VISIT, MEMBER, REMOVE, VISIT_OF } from './statements.ts';
import { assignmentOf, changedVisit, type Assignment, type AssignmentRow, type Visit, type VisitRow } from './visit.ts';

/** A validated body. */
export type Asked = Readonly<Record<string, string>>;

export interface Caller {
  readonly id: string;
  readonly user_id: string;
  readonly time_zone: string;
}

export interface Answer {
  readonly status: number;
  readonly location: string | null;
  readonly response: unknown;
}

/** An error answer; nothing is stored. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const ACTIVE = ['EN_ROUTE', 'IN_PROGRESS', 'PAUSED', 'COMPLETED'];
const instant = (): string => new Date().toISOString().replace('Z', '000Z');

export function add(pool: pg.Pool, caller: Caller, key: string, asked: Asked): Promise<Answer> {
  return perform(pool, caller, key, asked, async (client) => {
    const row = await holdVisit(client, caller, asked['appointment_id'] as string);
    const [member] = (await client.query<{ id: string; name: string }>(MEMBER([caller.id, asked['team_member_id']]))).rows;
    if (member === undefined) throw new Refusal(404, 'NOT_FOUND', 'There is no such assignable team member.');
    const present = await assignmentsOf(client, caller, row.id);
    if (row.canceled) throw new Refusal(409, 'ASSIGNMENT_CONFLICT', 'The visit is canceled.');
    if (present.some(({ team_member, status }) => team_member?.id === member.id && status !== 'CANCELED'))
      throw new Refusal(409, 'ASSIGNMENT_CONFLICT', 'The technician is on the visit already.');
    if ((asked['allow_outside_window'] as unknown) !== true) {
      const [from, until] = [Date.parse(row.window_start_at), Date.parse(row.window_end_at)];
      const outside = [asked['starts_at'], asked['ends_at']].some((at) => Date.parse(at as string) < from || Date.parse(at as string) > until);
      if (outside) throw new Refusal(400, 'OUTSIDE_ARRIVAL_WINDOW', 'Give times inside the visit’s arrival window.');
    }
    const at = instant();
    const { starts_at = '', ends_at = '' } = asked;
    const placed = { id: randomUUID(), job_id: row.job_id, appointment_id: row.id, team_member: member, starts_at, ends_at };
    const assignment: Assignment = { ...placed, status: 'TO_DO', status_updated_at: at, created_at: at, updated_at: null };
    const next = [...present, assignment].toSorted((a, b) => Date.parse(a.starts_at) - Date.parse(b.starts_at) || (a.id < b.id ? -1 : 1));
    const visit = changed(row, next, asked['expected_revision']);
    await client.query(ADD([caller.id, assignment.id, row.job_id, row.id, member.id, starts_at, ends_at, at]));
    await publish(client, caller.id, 'added', assignment, row.event_sequence + 1, visit);
    return { status: 201, location: `/v1/job-assignments/${assignment.id}`, response: { data: visit, notification: { status: 'NOT_REQUESTED' } } };
  });
}

export function remove(pool: pg.Pool, caller: Caller, key: string, asked: Asked): Promise<Answer> {
  return perform(pool, caller, key, asked, async (client) => {
    const [found] = (await client.query<{ visit_id: string }>(VISIT_OF([caller.id, asked['id']]))).rows;
    if (found === undefined) throw new Refusal(404, 'NOT_FOUND', 'There is no such assignment.');
    const row = await holdVisit(client, caller, found.visit_id);
    const present = await assignmentsOf(client, caller, row.id);
    // Also absent if another write removed it while this one waited for the visit.
    const assignment = present.find(({ id }) => id === asked['id']);
    if (assignment === undefined) throw new Refusal(404, 'NOT_FOUND', 'There is no such assignment.');
    if (ACTIVE.includes(assignment.status)) throw new Refusal(409, 'ASSIGNMENT_LOCKED', 'The assignment is active or completed.');
    const rest = present.filter(({ id }) => id !== assignment.id);
    const visit = changed(row, rest, asked['expected_revision']);
    await client.query(REMOVE([caller.id, asked['id']]));
    await publish(client, caller.id, 'removed', assignment, row.event_sequence + 1, visit);
    return { status: 200, location: null, response: { data: visit, notification: { status: 'NOT_REQUESTED' } } };
  });
}

/** Runs in one transaction. A second request with the same key waits for the first one and gets its answer. */
async function perform(pool: pg.Pool, { id, user_id }: Caller, key: string, asked: Asked, work: (client: pg.PoolClient) => Promise<Answer>): Promise<Answer> {
  const fingerprint = createHash('sha256').update(JSON.stringify(asked)).digest();
  const client = await pool.connect();
  try {
    await client.query('begin');
    const claimed = await client.query(CLAIM([id, user_id, key, fingerprint]));
    let answer: Answer;
    if (claimed.rowCount === 1) {
      answer = await work(client);
      await client.query(ANSWER([id, user_id, key, answer.status, answer.location, JSON.stringify(answer.response)]));
    } else {
      const [row] = (await client.query<Answer & { fingerprint: Buffer }>(ANSWERED([id, user_id, key]))).rows;
      if (row === undefined || !row.fingerprint.equals(fingerprint))
        throw new Refusal(409, 'IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was used for another request.');
      answer = row;
    }
    await client.query('commit');
    return answer;
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

async function holdVisit(client: pg.PoolClient, { id }: Caller, visitId: string): Promise<VisitRow> {
  const [row] = (await client.query<VisitRow>(HOLD_VISIT([id, visitId]))).rows;
  if (row === undefined) throw new Refusal(404, 'NOT_FOUND', 'There is no such visit.');
  return row;
}

async function assignmentsOf(client: pg.PoolClient, { id }: Caller, visitId: string): Promise<Assignment[]> {
  return (await client.query<AssignmentRow>(ASSIGNMENTS([id, visitId]))).rows.map(assignmentOf);
}

/** Returns the visit with its new assignments. Throws Refusal (409) if the caller's revision is out of date. */
function changed(row: VisitRow, next: readonly Assignment[], expected: string | undefined): Visit {
  if (row.revision !== expected) throw new Refusal(409, 'STALE_REVISION', 'The visit has changed since it was read.');
  return changedVisit(row, next);
}

async function publish(client: pg.PoolClient, id: string, what: 'added' | 'removed', assignment: Assignment, sequence: number, visit: Visit): Promise<void> {
  const { id: visitId, revision, dispatch_status } = visit;
  await client.query(CHANGE_VISIT([id, visitId, revision, dispatch_status, sequence]));
  const changed = JSON.stringify({ visit_id: visitId, assignment, revision, dispatch_status, sequence });
  const ofVisit = [randomUUID(), `${id}/${visitId}`, `visit.assignment_${what}`, id, changed];
  const ofAssignment = [randomUUID(), `${id}/${assignment.id}`, `assignment.${what}`, JSON.stringify(what === 'added' ? assignment : null)];
  await client.query(APPEND([...ofVisit, ...ofAssignment, sequence]));
}
