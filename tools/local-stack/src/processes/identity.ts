import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Distinguishes a process from a later one that reuses its pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time, in the system's own format. Includes the boot on Linux, so that it differs after a restart of the machine. */
  readonly started: string;
}

export function identify(pid: number): ProcessIdentity | undefined {
  const started = process.platform === 'linux' ? startOnLinux(pid) : startElsewhere(pid);
  return started === undefined ? undefined : { pid, started };
}

export function isRunning(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.started === identity.started;
}

function startOnLinux(pid: number): string | undefined {
  try {
    // Field 2 is the program's name in brackets and may contain spaces; the state is field 3 and the start time field 22.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${fields[19]}`;
  } catch {
    return undefined;
  }
}

function startElsewhere(pid: number): string | undefined {
  try {
    const [state = '', ...start] = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' })
      .trim()
      .split(/\s+/);
    return state.startsWith('Z') ? undefined : start.join(' ');
  } catch {
    return undefined;
  }
}
