/** Marks a promise that is awaited later, so that an earlier rejection is not reported as unhandled. */
export function handled<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  return work;
}
