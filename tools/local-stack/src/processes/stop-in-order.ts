import { setTimeout as delay } from 'node:timers/promises';
import { isRunning, type ProcessIdentity } from './identity.ts';

/** Clients stop before the servers they use. */
const ORDER = ['gateway', 'service', 'server'] as const;
export type StopOrder = (typeof ORDER)[number];

export interface Watched extends ProcessIdentity {
  readonly order: StopOrder;
  readonly signal: NodeJS.Signals;
  /** Milliseconds before a process that ignores the signal is killed. */
  readonly graceMs: number;
}

const POLL_MS = 20;

/** Stops processes, including other processes' children; resolves when all have ended. */
export async function stopInOrder(watched: readonly Watched[]): Promise<void> {
  for (const order of ORDER) await Promise.all(watched.filter((one) => one.order === order).map(stop));
}

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
    // The process has just ended by itself.
  }
}
