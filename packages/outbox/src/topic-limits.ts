// Message size limits of topics. Records are published whole, so an import refuses larger ones.

/** `max.message.bytes` of the topics that services create. */
export const LARGEST_MESSAGE = 4 * 1024 * 1024;
/** Bytes reserved for the key, the headers and Kafka's overhead. */
const ENVELOPE = 64 * 1024;

/** Limits in bytes of topics that existed already. */
const limits = new Map<string, number>();

/** Largest payload that the topic is known to accept, in bytes. */
export function largestPayload(topic: string): number {
  return Math.min(limits.get(topic) ?? LARGEST_MESSAGE, LARGEST_MESSAGE) - ENVELOPE;
}

export function noteLimit(topic: string, bytes: number): void {
  limits.set(topic, bytes);
}
