/** Work that is awaited later: what it rejects with until then is no unhandled rejection. */
export function heard<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  return work;
}
