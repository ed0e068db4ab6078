// The watchdog's program: see watchdog.ts. It writes nothing, because nobody may be left to read.
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { isRunning } from './identity.ts';
import type { StopOrder, Watched, WatchdogMessage } from './watchdog.ts';

const POLL_MS = 20;
const watched = new Map<number, Watched>();
const paths = new Set<string>();

// The terminal's signals are for the parent, which closes the pipe when it wants to end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as WatchdogMessage;
  if ('add' in message) watched.set(message.add.pid, message.add);
  else if ('remove' in message) watched.delete(message.remove);
  else paths.add(message.deleteAtEnd);
}

for (const order of ['gateway', 'service', 'server'] satisfies StopOrder[]) {
  await Promise.all([...watched.values()].filter((one) => one.order === order).map(stop));
}
for (const path of paths) rmSync(path, { recursive: true, force: true, maxRetries: 3 });

async function stop(one: Watched): Promise<void> {
  if (!isRunning(one)) return;
  send(one.pid, one.signal);
  const deadline = performance.now() + one.graceMs;
  for (let killed = false; isRunning(one); await delay(POLL_MS)) {
    if (killed || performance.now() < deadline) continue;
    send(one.pid, 'SIGKILL');
    killed = true;
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has just gone by itself.
  }
}
