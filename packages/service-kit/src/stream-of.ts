import { heard } from './heard.ts';

/** What work yields while it is going on, as a stream that ends with the work; what the work rejects with, the stream throws. */
export async function* streamOf<T>(work: (tell: (item: T) => void) => Promise<void>): AsyncIterable<T> {
  const items: T[] = [];
  let wake = (): void => undefined;
  let ended = false;
  const running = heard(
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
