// CPU time of a process and all its descendants, by kind of process.
import { readFileSync } from 'node:fs';
import { childrenByParent, statOf } from './cpu.ts';

/** Returns total ms by name; processes with the same name are added up. */
export function treeCpu(root: number): Map<string, number> {
  const children = childrenByParent();
  const used = new Map<string, number>();
  const visit = (pid: number): void => {
    const stat = statOf(pid);
    if (stat !== undefined) {
      const name = pid === root ? 'npm start itself' : nameOf(pid);
      // Time of ended processes, such as PostgreSQL's workers, is counted in the process that waited for them.
      used.set(name, (used.get(name) ?? 0) + stat.ms + (pid === root ? 0 : stat.endedMs));
    }
    for (const child of children.get(pid) ?? []) visit(child);
  };
  visit(root);
  return used;
}

function nameOf(pid: number): string {
  const line = commandOf(pid);
  const service = /(?:services\/)?([\w-]+)\/src\/main\.(?:ts|mjs)/.exec(line)?.[1];
  if (service !== undefined) return service;
  if (line.includes('kafka.Kafka')) return 'Kafka';
  if (line.includes('redis-server')) return 'Redis';
  if (line.includes('watchdog-main')) return 'watchdog';
  // "postgres: scheduling truckroll 127.0.0.1(41234) idle": the user of the connection, or the worker's name.
  const backend = /^postgres: (\S+(?: \w+)?)/.exec(line)?.[1];
  if (backend !== undefined) return `PostgreSQL ${backend}`;
  if (line.includes('postgres')) return 'PostgreSQL';
  return line.split(' ')[0] as string;
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}
