// The watchdog's program: see watchdog.ts. It prints nothing, because its output may have no reader left.
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { stopInOrder, type Watched } from './stop-in-order.ts';
import type { WatchdogMessage } from './watchdog.ts';

const watched = new Map<number, Watched>();
const paths = new Set<string>();

// The terminal's signals are for the parent, which closes the pipe when everything must stop.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as WatchdogMessage;
  if ('add' in message) watched.set(message.add.pid, message.add);
  else if ('remove' in message) watched.delete(message.remove);
  else paths.add(message.deleteAtEnd);
}
await stopInOrder([...watched.values()]);
for (const path of paths) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
