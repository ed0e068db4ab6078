// How busy the machine and single processes are, as Linux accounts it: who computed, and who was ready to and waited for a processor.
import { readFileSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** Since the machine or the process started. */
interface Account {
  /** Milliseconds of one process: with a processor, and waiting for one. */
  readonly ran: number;
  readonly waited: number;
  /** How often it was given a processor. */
  readonly turns: number;
}

export interface Busy {
  /** Of all processors. */
  readonly idle: number;
  /** Of the time, by process, of all its threads together. */
  readonly processes: Readonly<Record<string, { ran: number; waited: number; turnsPerSecond: number }>>;
}

const TICKS_PER_SECOND = 100;

/** Runs, and tells how busy it was meanwhile. Processes on Linux only; elsewhere nobody knows how idle processors were, and the rest goes on. */
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

/** Of all processors together, waits for the disk included. */
function idleSeconds(): number {
  if (process.platform !== 'linux') return NaN;
  const [, , , , idle = 0, disk = 0] = readFileSync('/proc/stat', 'latin1').split('\n', 1)[0]?.split(/ +/).map(Number) ?? [];
  return (idle + disk) / TICKS_PER_SECOND;
}
