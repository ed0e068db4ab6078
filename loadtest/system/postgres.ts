import pg from 'pg';
import { parentOf } from '../measure/cpu.ts';
import type { Stack } from './stack.ts';

/** Runs `work` with a connection to the benchmark's database. */
export async function withClient<T>({ databaseUrl }: Pick<Stack, 'databaseUrl'>, work: (client: pg.Client) => Promise<T>, options?: string): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl, ...(options !== undefined && { options }) });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The postmaster, whose children serve the connections. */
export function postgresPid(stack: Stack): Promise<number> {
  return withClient(stack, async (client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    return parentOf(rows[0]?.pid ?? 0) ?? 0;
  });
}
