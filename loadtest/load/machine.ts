import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import { promisify } from 'node:util';
import { ROOT } from '@truckroll/local-stack';

/** `pinned`: whether k6 and the system each have their own core. */
export function machineFacts(k6: string, pinned: boolean) {
  return {
    processor: cpus()[0]?.model ?? 'unknown',
    // This process may be pinned to one of them.
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
    k6: /v\d+\.\d+\.\d+/.exec(execFileSync(k6, ['version'], { encoding: 'utf8' }))?.[0] ?? 'unknown',
    commit: commit(),
    load: loadavg()[0],
    pinned,
  };
}

function commit(): string {
  try {
    const git = (...args: string[]): string => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--untracked-files=no') === '' ? '' : '+changes');
  } catch {
    return 'unknown';
  }
}

const SPIN_MS = 400;
const SPIN = `
const until = performance.now() + ${SPIN_MS}, began = performance.now(), before = process.cpuUsage();
while (performance.now() < until);
const { user, system } = process.cpuUsage(before);
process.stdout.write(String((user + system) / 1000 / (performance.now() - began)));`;

/** Runs a busy loop on every core at once and returns the smallest share of a core that one got. */
export async function spinCheck(): Promise<number> {
  const spin = promisify(execFile);
  const spins = await Promise.all(Array.from({ length: availableParallelism() }, () => spin(process.execPath, ['-e', SPIN])));
  return Math.min(...spins.map(({ stdout }) => Number(stdout)));
}

/** CPU time used on the machine so far in ms, including time stolen by the host; NaN if unknown. */
export function machineMs(): number {
  try {
    const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = (/^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'latin1'))?.[1] ?? '')
      .split(' ')
      .map(Number);
    return (user + nice + system + irq + softirq + steal) * 10;
  } catch {
    return NaN;
  }
}
