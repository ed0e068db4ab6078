/** Resolves with the work, or rejects after so many milliseconds; the work is then left to itself. */
export async function limited<T>(work: Promise<T>, ms: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Ends a client of Kafka, in order if that is possible within a few seconds. Never rejects. */
export async function goodbye(client: { disconnect(): Promise<void> } | undefined): Promise<void> {
  await client?.disconnect().catch(() => undefined);
}
