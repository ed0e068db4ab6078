import { handled } from './handled.ts';

/** Turns what work emits while it runs into a stream, which ends with the work and throws what the work rejects with. */
export async function* streamOf<T>(work: (emit: (item: T) => void) => Promise<void>): AsyncIterable<T> {
  const items: T[] = [];
  let wake = (): void => undefined;
  let ended = false;
  const running = handled(
    work((item) => {
      items.push(item);
      wake();
    }).finally(() => {
      ended = true;
      wake();
    }),
  );
  while (!ended || items.length > 0) {
    const item = items.shift();
    if (item !== undefined) yield item;
    else await new Promise<void>((resolve) => (wake = resolve));
  }
  await running;
}
