import pg from 'pg';
import { parentOf } from '../measure/cpu.ts';
import type { Stack } from './stack.ts';

/** The postmaster, whose children serve the connections. */
export async function postgresPid(stack: Stack): Promise<number> {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    return parentOf(rows[0]?.pid ?? 0) ?? 0;
  } finally {
    await client.end();
  }
}
