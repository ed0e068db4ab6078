import type { DeadLetter, ReadDeadLettersRequest, ReadDeadLettersResponse } from '@truckroll/contract/gen/integrations/v1/deliveries';
import type { IncomingEvent } from '@truckroll/outbox';
import { PeriodicTask, logOutage, type BackgroundPart } from '@truckroll/process';
import type { Logger } from '@truckroll/telemetry';

export interface DeadLettersOptions {
  readonly read: (request: ReadDeadLettersRequest) => Promise<ReadDeadLettersResponse>;
  readonly resume: (letters: readonly DeadLetter[]) => Promise<void>;
  readonly log: Logger;
}

/** Poll interval in ms: dispatchers of other releases may add dead letters at any time. */
const LOOK_MS = 10_000;

/** Reads every dead letter once, oldest first: what this release cannot read now, it never can. Dispatchers may safely read the same ones. */
export function deadLetters({ read, resume, log }: DeadLettersOptions): BackgroundPart {
  let after = 0;
  let failures = 0;
  const looks: PeriodicTask = new PeriodicTask(LOOK_MS, async () => {
    try {
      while (!looks.stopped) {
        const { letters } = await read({ after });
        const last = letters.at(-1);
        if (last === undefined) break;
        await resume(letters);
        after = last.id;
      }
      failures = 0;
    } catch (error) {
      failures += 1;
      logOutage(log, 'what was set aside could not be looked at; trying again', failures, error);
    }
  });
  return { name: 'webhook dead letters', start: async () => looks.start(), stop: () => looks.stop() };
}

export function letterOf(event: IncomingEvent, error: unknown): DeadLetter {
  const {
    topic,
    partition,
    offset: log_offset,
    id: event_id,
    type,
    source,
    companyId: company_id,
    key,
    time,
    sequence,
    version,
    payload,
    requestId: request_id,
    trace: traceparent,
  } = event;
  const reason = String((error as Partial<Error> | null)?.message ?? error).slice(0, 2000);
  return {
    id: 0,
    topic,
    partition,
    log_offset,
    event_id,
    type,
    source,
    company_id,
    key,
    time,
    sequence: sequence ?? null,
    version,
    payload,
    reason,
    request_id,
    traceparent,
  };
}

export function eventOf({
  event_id: id,
  company_id: companyId,
  log_offset: offset,
  sequence,
  payload,
  topic,
  partition,
  type,
  source,
  key,
  time,
  version,
  request_id,
  traceparent,
}: DeadLetter): IncomingEvent {
  const bytes = payload == null ? null : Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  return {
    id,
    companyId,
    offset,
    topic,
    partition,
    type,
    source,
    key,
    time,
    version,
    sequence: sequence ?? undefined,
    payload: bytes,
    trace: traceparent ?? undefined,
    requestId: request_id ?? undefined,
  };
}
