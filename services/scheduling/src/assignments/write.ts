// One transaction holds the key and stores the change, its events, the notification and the answer (decisions §5).
import { ApiError, encodeFragment, messageJson } from '@truckroll/contract';
import { AddAssignmentResponse, type CustomerNotification } from '@truckroll/contract/gen/scheduling/v1/assignment_commands';
import type { Visit, VisitJob } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import type { Assignment } from '@truckroll/contract/gen/scheduling/v1/job_assignments';
import type { Caller } from '@truckroll/contract/gen/type/v1/type';
import type { CallContext } from '@truckroll/grpc';
import { appendingValues, auditEvent, type OutgoingEvent } from '@truckroll/outbox';
import { isContention, type Database, type Transaction } from '@truckroll/postgres';
import { nameInReference, type RecordReader } from '@truckroll/record-store';
import { afterTechniciansChanged } from '../intake/technicians.ts';
import { acceptNotification } from '../notifications/accept.ts';
import { answered, answeringValues, fingerprintOf, isTaken, lockOf, waitForKey, type Answer, type Claim } from './idempotency.ts';
import { technicians } from '../visits/rules.ts';
import { changeOf, type ChangedVisit, type HeldVisit, type Storing } from './store.ts';

export interface WriteServices {
  database: Database;
  reader: RecordReader;
  /** Wakes the relay. */
  poke(): void;
}

export interface Command {
  caller?: Caller | null | undefined;
  idempotency_key: string;
  customer_notification?: CustomerNotification | null | undefined;
}

export interface PlannedChange {
  storing: Storing;
  held: HeldVisit;
  next: Visit;
  /** Reasons to refuse the change, in the order of the checks. */
  refusals: () => Iterable<ApiError | undefined>;
  status: number;
  location: string | null;
  audited: { action: string; assignment: Assignment; is: 'before' | 'after' };
  /** The values of the change itself in `storing`, and its events. */
  store(changed: ChangedVisit): { values: unknown[]; events: OutgoingEvent[] };
}

export interface Write<C extends Command, F> {
  name: string;
  encode(command: C): { finish(): Uint8Array };
  /** Takes the key, then finds and locks the records; undefined if another write holds the key or nothing was found. */
  find(tx: Transaction, key: string, companyId: string, command: C): Promise<F | undefined>;
  /** Errors: 404. */
  plan(companyId: string, command: C, found: F | undefined): PlannedChange;
}

/** Runs a write, or returns the answer of the earlier write with its key. Errors: 400, 404, 409, 503. */
export async function perform<C extends Command, F>(services: WriteServices, write: Write<C, F>, command: C, context: CallContext): Promise<Buffer> {
  const { caller } = command;
  if (caller == null) throw ApiError.internal(new Error('a command has no caller'));
  const asked = write.encode({ ...command, caller: null, idempotency_key: '' }).finish();
  const fingerprint = fingerprintOf(write.name, asked);
  const key: Claim = { companyId: caller.company_id, userId: caller.user_id, key: command.idempotency_key, fingerprint };
  const lock = lockOf(key);
  let replayed = false;
  /** If not `waits`, undefined when nothing was found, possibly because another request holds the key. */
  const attempt = (waits: boolean): Promise<Answer | undefined> =>
    services.database.of(key.companyId).transaction(
      async (tx) => {
        const acquired = waits ? waitForKey(tx, key) : undefined;
        const [found, earlier] = await Promise.all([write.find(tx, lock, key.companyId, command), answered(tx, key), acquired]);
        replayed = earlier !== undefined;
        if (earlier !== undefined) return earlier;
        if (found === undefined && !waits) return undefined;
        return change(services, tx, key, write.plan(key.companyId, command, found), { ...command, caller });
      },
      // An import locks the same rows in another order.
      { retryContention: true },
    );
  const answer = await attempt(false)
    .catch((error: unknown) => {
      if (!isTaken(error)) throw error;
    })
    .then(async (first) => first ?? ((await attempt(true)) as Answer))
    .catch((error: unknown) => {
      throw isContention(error) || isTaken(error) ? ApiError.unavailable(error, 1) : error;
    });
  if (!replayed) services.poke();
  context.sendMetadata({
    'http-status': String(answer.status),
    ...(answer.location === null ? {} : { 'http-location': answer.location }),
    ...(replayed ? { 'idempotent-replayed': 'true' } : {}),
  });
  return answer.response;
}

async function change({ reader }: WriteServices, tx: Transaction, key: Claim, planned: PlannedChange, command: Command & { caller: Caller }): Promise<Answer> {
  const { companyId } = key;
  const { held, next } = planned;
  const request = command.customer_notification ?? null;
  // Before the rules, since a missing contact is a 404. If the write is refused, what this stores is rolled back.
  const notification = await acceptNotification(tx, { companyId, visit: next, job: next.job as VisitJob, request });
  for (const refusal of planned.refusals()) if (refusal !== undefined) throw refusal;

  const changed = changeOf(held, next);
  const visit = await reader.assembled(tx, companyId, held.document, changed.derived);
  // Both writes answer with the same fields.
  const response = Buffer.concat([visit, encodeFragment(AddAssignmentResponse, { notification })]);
  const answer = { status: planned.status, location: planned.location, response };
  if (held.booked) await afterTechniciansChanged(tx, companyId, next.id, technicians(next).length);
  const { values, events } = planned.store(changed);
  const appended = appendingValues([...events, auditEventOf(companyId, command.caller, planned.audited)]);
  await tx.finish([{ ...planned.storing, values: [...values, ...answeringValues(key, answer), ...appended] }]);
  return answer;
}

/** An imported assignment may have a name of any length. */
function auditEventOf(companyId: string, caller: Caller, { action, assignment, is }: PlannedChange['audited']): OutgoingEvent {
  const { id, team_member: member } = assignment;
  const shown = { ...assignment, team_member: member && { ...member, name: member.name && nameInReference(member.name) } };
  const state = messageJson('truckroll.scheduling.v1.Assignment', shown, 'snake');
  return auditEvent('scheduling', { companyId, caller, action, object: { kind: 'job-assignments', id }, [is]: state });
}
