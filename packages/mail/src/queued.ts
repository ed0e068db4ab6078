/** The senders of this process. Those of other replicas find what is queued by looking. */
const senders = new Set<() => void>();

/** Calls the function whenever a message may have been queued here. Returns how to end that. */
export function onQueued(look: () => void): () => void {
  senders.add(look);
  return () => void senders.delete(look);
}

/** A transaction that queued a message was committed. */
export function queued(): void {
  for (const look of senders) look();
}
