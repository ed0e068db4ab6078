// A separate PostgreSQL that sends its changes to others.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Ports, silent, type Watchdog } from '@truckroll/local-stack';
import { startPostgres, type PostgresPrograms } from '../../tools/local-stack/src/servers/postgres.ts';

/** Resolves to its address. Its log is `logs/postgres.log` in the folder. */
export async function startLogicalPostgres(folder: string, watchdog: Watchdog, programs?: PostgresPrograms): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const context = { folder, ports: new Ports(join(folder, 'ports.json')), logs: join(folder, 'logs'), watchdog, say: silent, careless: true };
  const own = {
    address: '127.0.0.1',
    password: 'of the test',
    settings: { wal_level: 'logical', max_prepared_transactions: '1' },
    ...(programs && { programs }),
  };
  return (await startPostgres({ ...context, ...own })).url;
}
