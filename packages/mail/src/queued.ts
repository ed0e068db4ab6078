/** Wake-up callbacks of the senders in this process. Senders in other replicas poll. */
const senders = new Set<() => void>();

/** Calls `look` whenever this process may have queued a message. Returns a function that unsubscribes. */
export function onQueued(look: () => void): () => void {
  senders.add(look);
  return () => void senders.delete(look);
}

/** Call after committing a transaction that queued a message. */
export function queued(): void {
  for (const look of senders) look();
}
