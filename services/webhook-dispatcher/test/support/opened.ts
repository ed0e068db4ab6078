// Closes the receivers and senders of a test after it.
import { exchanges, type Exchanges } from './exchanges.ts';
import { startReceiver, type Receiver } from './receiver.ts';

const opened: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
});

/** Registers a resource to close after the test, in reverse order of opening. */
export function closing<T extends { close(): Promise<unknown> }>(made: T): T {
  opened.push(made);
  return made;
}

export async function receiver(...given: Parameters<typeof startReceiver>): Promise<Receiver> {
  return closing(await startReceiver(...given));
}

export function sender(...given: Parameters<typeof exchanges>): Exchanges {
  return closing(exchanges(...given));
}
