// Backs up PostgreSQL and restores it later. Kafka, Redis and the copies then have changes that the database has lost.
import { execFileSync } from 'node:child_process';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Installation } from '../../faults/system/installation.ts';
import { truckroll } from './command.ts';

const dataOf = ({ folder }: Installation): string => join(folder, 'postgres');
const backupOf = ({ folder }: Installation): string => join(folder, 'postgres.backup');

export function backUp(installation: Installation): Promise<void> {
  // Keeps owners and modes, because PostgreSQL rejects any others.
  return whileStopped(installation, () => void execFileSync('cp', ['-a', dataOf(installation), backupOf(installation)]));
}

export function restore(installation: Installation): Promise<void> {
  const exchange = (): void => {
    renameSync(dataOf(installation), `${dataOf(installation)}.lost`);
    renameSync(backupOf(installation), dataOf(installation));
  };
  return whileStopped(installation, exchange, () => truckroll(['restored'], installation.operator, installation.folder));
}

/** `work` runs without PostgreSQL, `renew` with it and without the services. */
async function whileStopped(installation: Installation, work: () => void, renew?: () => Promise<void>): Promise<void> {
  const programs = [...installation.programs.values()];
  const [postgres] = installation.targets(['postgres']);
  await Promise.all(programs.map((program) => program.stop()));
  await postgres!.kill();
  work();
  await postgres!.start();
  await renew?.();
  await Promise.all(programs.map((program) => program.start()));
}
