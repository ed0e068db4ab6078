import { heard } from '@truckroll/service-kit';

/** One of several things that come one after the other. */
interface Read<B> {
  readonly value: B;
  /** Has the next one read soon, if that has not begun: call when this one is waited for. */
  readNext(): void;
}

/**
 * Reads each thing that comes, the next one at the latest when it is asked for. What cannot be read rejects after what came before it was
 * handed out. No more than one is held beside the one that was handed out last.
 */
export async function* readAhead<A, B>(source: AsyncIterable<A>, read: (thing: A) => B): AsyncGenerator<Read<B>, void> {
  const things = source[Symbol.asyncIterator]();
  const next = async (): Promise<{ value: B } | undefined> => {
    const { done, value } = await things.next();
    // What was sent before leaves first.
    await new Promise((resolve) => setImmediate(resolve));
    return done === true ? undefined : { value: read(value) };
  };
  try {
    for (let coming = next(); ; ) {
      const come = await coming;
      if (come === undefined) return;
      let ahead: ReturnType<typeof next> | undefined;
      const readNext = (): ReturnType<typeof next> => {
        ahead ??= heard(next());
        return ahead;
      };
      yield { value: come.value, readNext: () => void readNext() };
      coming = readNext();
    }
  } finally {
    // Not awaited: it may stand behind a thing that never comes.
    if (things.return !== undefined) void heard(things.return());
  }
}
