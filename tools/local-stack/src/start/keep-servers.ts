import { setTimeout as delay } from 'node:timers/promises';
import { describe } from '../problem.ts';
import { exitText } from '../processes/daemon.ts';
import type { Say } from '../say.ts';
import type { Servers } from '../servers/index.ts';
import type { ServerName } from '../servers/server.ts';

const PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;

export function keepServers(servers: Servers, say: Say, signal: AbortSignal): void {
  for (const name of servers.running.keys()) void keep(name, servers, say, signal);
}

async function keep(name: ServerName, servers: Servers, say: Say, signal: AbortSignal): Promise<void> {
  for (;;) {
    const exit = await servers.running.get(name)!.daemon.exited;
    if (signal.aborted) return;
    say(`${name} has ended (${exitText(exit)}) and is started again`);
    for (let pause = PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        await servers.restart(name);
        break;
      } catch (error) {
        if (signal.aborted) return;
        say(describe(error));
      }
      if (await delay(pause, false, { signal }).catch(() => true)) return;
    }
  }
}
