// What both writes do around their rules: one transaction that has the key, and stores the change, its events, the notification
// and the answer (decisions §5).
import { ApiError, messageJson } from '@truckroll/contract';
import { NotificationOutcome, type CustomerNotification } from '@truckroll/contract/gen/scheduling/v1/assignment_commands';
import type { Visit, VisitJob } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import type { Assignment } from '@truckroll/contract/gen/scheduling/v1/job_assignments';
import type { Caller } from '@truckroll/contract/gen/type/v1/type';
import { appending, auditEvent, type OutgoingEvent } from '@truckroll/outbox';
import type { RecordReader } from '@truckroll/record-store';
import { expression, isContention, together, type CallContext, type Database, type Expressions, type Transaction } from '@truckroll/service-kit';
import { afterTechniciansChanged } from '../intake/technicians.ts';
import { acceptNotification } from '../notifications/accept.ts';
import { answered, answering, fingerprintOf, isTaken, lockOf, waitForKey, type Answer, type Claim } from './idempotency.ts';
import { technicians } from './rules.ts';
import { changeOf, type Changed, type HeldVisit } from './store.ts';

export interface WriteServices {
  database: Database;
  /** Of visits. */
  reader: RecordReader;
  /** Wakes the relay. */
  poke(): void;
}

/** What is asked, whichever write it is. */
export interface Command {
  caller?: Caller | null | undefined;
  idempotency_key: string;
  customer_notification?: CustomerNotification | null | undefined;
}

/** A write that has found what it is about. */
export interface Planned {
  /** Of the statement that stores it. */
  name: string;
  held: HeldVisit;
  /** The visit as it will be. */
  next: Visit;
  /** What stands against the change, in the order of the checks. */
  refusals: () => Iterable<ApiError | undefined>;
  status: number;
  /** Path of the record that is made. */
  location: string | null;
  /** What the audit trail says of it. */
  audited: { action: string; assignment: Assignment; is: 'before' | 'after' };
  /** What stores the change, and the events that tell of it. */
  store(changed: Changed): { change: Expressions; events: OutgoingEvent[] };
}

export interface Write<C extends Command, F> {
  name: string;
  encode(command: C): { finish(): Uint8Array };
  /** Takes the key, finds and locks; undefined where the key is not free, or where there is nothing to find. */
  find(tx: Transaction, key: string, companyId: string, command: C): Promise<F | undefined>;
  /** Errors: 404. */
  plan(companyId: string, command: C, found: F | undefined): Planned;
}

/** Runs a write, or repeats the answer of the one that had its key. Errors: 400, 404, 409, 503. */
export async function perform<C extends Command, F>(services: WriteServices, write: Write<C, F>, command: C, context: CallContext): Promise<Buffer> {
  const { caller } = command;
  if (caller == null) throw ApiError.internal(new Error('a command came without its caller'));
  const asked = write.encode({ ...command, caller: null, idempotency_key: '' }).finish();
  const fingerprint = fingerprintOf(write.name, asked);
  const key: Claim = { companyId: caller.company_id, userId: caller.user_id, key: command.idempotency_key, fingerprint };
  const lock = lockOf(key);
  let replayed = false;
  /** Undefined, unless it is patient, where nothing was found: perhaps because another request has the key. */
  const attempt = (patient: boolean): Promise<Answer | undefined> =>
    services.database.of(key.companyId).transaction(
      async (tx) => {
        // In this order, without waiting in between.
        const turn = patient ? waitForKey(tx, key) : undefined;
        const [found, earlier] = await Promise.all([write.find(tx, lock, key.companyId, command), answered(tx, key), turn]);
        replayed = earlier !== undefined;
        if (earlier !== undefined) return earlier;
        if (found === undefined && !patient) return undefined;
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

async function change({ reader }: WriteServices, tx: Transaction, key: Claim, planned: Planned, command: Command & { caller: Caller }): Promise<Answer> {
  const { companyId } = key;
  const { held, next } = planned;
  const request = command.customer_notification ?? null;
  // Before the rules, as its contact may be missing; what it stores goes with a write that is refused.
  const notification = await acceptNotification(tx, { companyId, visit: next, job: next.job as VisitJob, request });
  for (const refusal of planned.refusals()) if (refusal !== undefined) throw refusal;

  const changed = changeOf(held, next);
  const outcome = Buffer.from(NotificationOutcome.encode(notification).finish());
  const visit = await reader.assembled(tx, companyId, held.document, changed.derived);
  const response = Buffer.concat([visit, Buffer.of(NOTIFICATION_TAG, outcome.length), outcome]);
  const answer = { status: planned.status, location: planned.location, response };
  if (held.booked) await afterTechniciansChanged(tx, companyId, next.id, technicians(next).length);
  const { change, events } = planned.store(changed);
  const all = [...events, auditEventOf(companyId, command.caller, planned.audited)];
  await tx.finish([together(planned.name, [change, expression('appended', appending(all)), expression('answered', answering(key, answer))])]);
  return answer;
}

function auditEventOf(companyId: string, caller: Caller, { action, assignment, is }: Planned['audited']): OutgoingEvent {
  const object = { kind: 'job-assignments', id: assignment.id };
  return auditEvent('scheduling', { companyId, caller, action, object, [is]: messageJson('truckroll.scheduling.v1.Assignment', assignment, 'snake') });
}

/** Field 2 of both responses, a message. `data`, field 1, comes as a read of the visit has it. */
const NOTIFICATION_TAG = 0x12;
