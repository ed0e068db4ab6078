import { EventEmitter, on } from 'node:events';

/** Turns what work emits while it runs into a stream, which ends with the work and throws what the work rejects with. */
export async function* streamOf<T>(work: (emit: (item: T) => void) => Promise<void>): AsyncIterable<T> {
  const events = new EventEmitter();
  const items = on(events, 'item', { close: ['end'] }) as AsyncIterable<[T]>;
  // The work may fail after the reader has left.
  events.on('error', () => undefined);
  work((item) => void events.emit('item', item)).then(
    () => events.emit('end'),
    (error: unknown) => events.emit('error', error),
  );
  for await (const [item] of items) yield item;
}
