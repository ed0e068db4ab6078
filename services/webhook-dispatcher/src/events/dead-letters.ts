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
      logOutage(log, 'dead letters could not be read; trying again', failures, error);
    }
  });
  return { name: 'webhook dead letters', start: async () => looks.start(), stop: () => looks.stop() };
}

/** An event as integrations keeps it. `error` is why this release cannot deliver it. */
export function letterOf(event: IncomingEvent, error: unknown): DeadLetter {
  const { offset, id, companyId, sequence = null, requestId, trace, ...same } = event;
  const reason = String((error as Partial<Error> | null)?.message ?? error).slice(0, 2000);
  return { ...same, id: 0, log_offset: offset, event_id: id, company_id: companyId, sequence, reason, request_id: requestId, traceparent: trace };
}

/** Undoes `letterOf`. */
export function eventOf({
  log_offset,
  event_id,
  company_id,
  sequence,
  payload,
  request_id,
  traceparent,
  people,
  reason: _reason,
  ...same
}: DeadLetter): IncomingEvent {
  return {
    ...same,
    id: event_id,
    companyId: company_id,
    offset: log_offset,
    sequence: sequence ?? undefined,
    payload: payload == null ? null : Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength),
    trace: traceparent ?? undefined,
    requestId: request_id ?? undefined,
    people: people ?? undefined,
  };
}
