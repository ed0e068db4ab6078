// What became of a message to a customer that a write of this page asked for.
import { readNotification } from '../api/integrations.ts';
import type { Requested } from '../api/schedule.ts';
import { useResource } from '../state/resource.ts';
import { Store, useStore } from '../state/store.ts';

const OUTCOMES: Readonly<Record<string, string>> = {
  QUEUED: 'A message to the customer is on its way.',
  SENT: 'The customer got a message.',
  FAILED: 'The customer got no message.',
  UNKNOWN: 'Whether the message reached the customer is not known. It is not sent again.',
  SUPPRESSED: 'The customer gets no message.',
};

/** The message of the last write of this page to each visit, by the visit's id. The API says what became of one, not which a visit has. */
const messages = new Store<ReadonlyMap<string, Requested>>(new Map());

export function remember(visitId: string, requested: Requested): void {
  messages.set(new Map([...messages.value, [visitId, requested]]));
}

/** What became of the message of the last write to the visit, as soon as it is known. Undefined where this page requested none. */
export function useMessage(visitId: string) {
  const requested = useStore(messages).get(visitId);
  return requested?.id == null ? undefined : <Message requested={requested} />;
}

export function Message({ requested: { id, status: first } }: { requested: Requested }) {
  // An older service gives no id.
  const found = useResource(
    `notification ${id}`,
    async (signal) => (id == null ? undefined : await readNotification(id, signal)),
    (value) => value?.finishedAt === null,
  );
  const { status = first, reason = null } = found.value ?? {};
  return (
    <>
      {OUTCOMES[status]}
      {reason !== null && ` Reason: ${reason}.`}
    </>
  );
}
