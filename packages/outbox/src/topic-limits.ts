// How large a message topics take. The import takes lines of 3 MiB (docs/decisions.md §10), and a record that others
// follow is published whole.

/** Of a topic that a service creates, in bytes: `max.message.bytes`. */
export const LARGEST_MESSAGE = 4 * 1024 * 1024;
/** Beside the payload: key, headers and what Kafka adds. */
const ENVELOPE = 64 * 1024;

/** Topics that exist and take less. */
const smaller = new Map<string, number>();

/** Bytes of the largest payload that the topic is known to take. */
export function largestPayload(topic: string): number {
  return (smaller.get(topic) ?? LARGEST_MESSAGE) - ENVELOPE;
}

/** Notes what an existing topic's own setting is, in bytes. */
export function noteLimit(topic: string, bytes: number): void {
  if (bytes < LARGEST_MESSAGE) smaller.set(topic, bytes);
  else smaller.delete(topic);
}
