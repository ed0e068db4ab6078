import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { STATE } from '@truckroll/local-stack';

/** Keeps the logs and observations of a failed run, which would otherwise be deleted with it. Returns the folder. */
export function keepEvidence(installation: { readonly folder: string }, name: string, seen: object): string {
  const folder = join(STATE, 'faults', `${new Date().toISOString().replaceAll(':', '-')} ${name}`);
  mkdirSync(folder, { recursive: true });
  cpSync(join(installation.folder, 'logs'), join(folder, 'logs'), { recursive: true });
  const readable = (_: string, value: unknown): unknown => (value instanceof Map ? Object.fromEntries(value) : value);
  writeFileSync(join(folder, 'seen.json'), JSON.stringify(seen, readable, 1));
  return folder;
}
