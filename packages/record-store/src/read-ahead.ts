import { handled } from '@truckroll/process';

interface Read<B> {
  readonly value: B;
  /** Starts reading the next item, if that has not begun. Call it while this item is being waited for. */
  readNext(): void;
}

/**
 * Reads items one at a time, each at the latest when it is requested. If reading one fails, this rejects after the items before it were
 * handed out. Reads at most one item ahead of the consumer.
 */
export async function* readAhead<A, B>(source: AsyncIterable<A>, read: (thing: A) => B): AsyncGenerator<Read<B>, void> {
  const things = source[Symbol.asyncIterator]();
  const next = async (): Promise<{ value: B } | undefined> => {
    const result = await things.next();
    // Lets pending output be sent before the item is read.
    await new Promise((resolve) => setImmediate(resolve));
    return result.done === true ? undefined : { value: read(result.value) };
  };
  try {
    for (let coming = next(); ; ) {
      const come = await coming;
      if (come === undefined) return;
      let ahead: ReturnType<typeof next> | undefined;
      const readNext = (): ReturnType<typeof next> => {
        ahead ??= handled(next());
        return ahead;
      };
      yield { value: come.value, readNext: () => void readNext() };
      coming = readNext();
    }
  } finally {
    // Not awaited: it may be queued behind an item that never arrives.
    if (things.return !== undefined) void handled(things.return());
  }
}
