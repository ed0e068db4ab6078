// How busy the cores and single processes are on Linux: running, or runnable and waiting for a core.
import { readFileSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** Totals since the process started. */
interface Account {
  /** Milliseconds on a core, and waiting for one. */
  readonly ran: number;
  readonly waited: number;
  /** Number of times that it was scheduled. */
  readonly turns: number;
}

export interface Busy {
  /** Share of the time that the cores are idle, averaged over all cores. */
  readonly idle: number;
  /** Shares of the time by process, over all its threads; `turnsPerSecond` counts how often it was scheduled. */
  readonly processes: Readonly<Record<string, { ran: number; waited: number; turnsPerSecond: number }>>;
}

const TICKS_PER_SECOND = 100;

/** Runs `work` and measures how busy the machine was. Off Linux `idle` is NaN, and `pids` must be empty. */
export async function withBusy<T>(pids: Readonly<Record<string, number>>, work: () => Promise<T>): Promise<{ result: T; busy: Busy }> {
  const names = Object.keys(pids);
  const accounts = (): Account[] => Object.values(pids).map(accountOf);
  const [before, idleBefore, startedAt] = [accounts(), idleSeconds(), performance.now()];
  const result = await work();
  const seconds = (performance.now() - startedAt) / 1000;
  const idle = (idleSeconds() - idleBefore) / (seconds * availableParallelism());
  const processes = accounts().map(({ ran, waited, turns }, index) => {
    const earlier = before[index] as Account;
    const share = (ms: number): number => ms / 1000 / seconds;
    return [
      names[index] as string,
      { ran: share(ran - earlier.ran), waited: share(waited - earlier.waited), turnsPerSecond: (turns - earlier.turns) / seconds },
    ];
  });
  return { result, busy: { idle, processes: Object.fromEntries(processes) as Busy['processes'] } };
}

export function busyText({ idle, processes }: Busy, perSecond: number): string {
  const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;
  const each = Object.entries(processes).map(
    ([name, { ran, waited, turnsPerSecond }]) =>
      `${name} ran for ${percent(ran)} of the time and waited for a processor for ${percent(waited)}, in ${(turnsPerSecond / perSecond).toFixed(1)} turns each`,
  );
  return `processors idle for ${percent(idle)}; ${each.join('; ')}`;
}

function accountOf(pid: number): Account {
  const sum = { ran: 0, waited: 0, turns: 0 };
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const [ran = 0, waited = 0, turns = 0] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ').map(Number);
    sum.ran += ran / 1e6;
    sum.waited += waited / 1e6;
    sum.turns += turns;
  }
  return sum;
}

/** Idle seconds of all cores together, including waits for the disk. */
function idleSeconds(): number {
  if (process.platform !== 'linux') return NaN;
  const [, , , , idle = 0, disk = 0] = readFileSync('/proc/stat', 'latin1').split('\n', 1)[0]?.split(/ +/).map(Number) ?? [];
  return (idle + disk) / TICKS_PER_SECOND;
}
