/** What work yields while it is going on, as a stream that ends with the work; what the work rejects with, the stream throws. */
export async function* streamOf<T>(work: (tell: (item: T) => void) => Promise<void>): AsyncIterable<T> {
  const items: T[] = [];
  let wake = (): void => undefined;
  let ended = false;
  const running = work((item) => {
    items.push(item);
    wake();
  }).finally(() => {
    ended = true;
    wake();
  });
  // Its failure is thrown by the await below; until then it is not unhandled.
  running.catch(() => undefined);
  while (!ended || items.length > 0) {
    const item = items.shift();
    if (item !== undefined) yield item;
    else await new Promise<void>((resolve) => (wake = resolve));
  }
  await running;
}
