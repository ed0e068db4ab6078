// What goes wrong in a move.
import { Database } from '@truckroll/postgres';
import { until } from '@truckroll/testing/until';
import { nameOf } from '../../tools/cli/src/moving/state.ts';
import type { System, TestCompany } from '../support/system.ts';
import { record, rowsOf, type Outcome } from './two-cells.ts';

export const DEAD_LETTER = `insert into billing.parked_event (consumer, topic, partition, log_offset, key, headers, reason)
  values ('billing', 't', 0, 1, $1, '{"id":"1"}', 'a defect')`;

export const LATE_ENTRY = `insert into integrations.audit_events (company_id, at, id, actor_kind, actor_id, actor_name, action, object_kind, object_id, after)
  values ($1, now(), gen_random_uuid(), 'OPERATOR', 'o', 'o', 'late', $2, $3, $4)`;

const END = `select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'truckroll-move' and backend_type = 'client backend'`;

const untilWaiting = (system: System, what: string): Promise<unknown> =>
  until(`the command to wait for ${what}`, async () => {
    const waiting = `select from pg_stat_activity where application_name = 'truckroll-move' and wait_event_type = 'Lock' and query like $1`;
    return (await rowsOf(system, waiting, `%${what}%`)).length > 0;
  });

/** Runs work in a transaction that begins with a statement. */
async function during<T>(system: System, text: string, work: () => Promise<T>): Promise<T> {
  const database = new Database({ url: system.serviceEnvironment['DATABASE_URL']!, maxConnections: 1 });
  try {
    return await database.transaction(async (tx) => {
      await tx.query({ text });
      return await work();
    });
  } finally {
    await database.close();
  }
}

/** Runs a command that moves a company, and has the other cell's server end its connection after the company was closed, just after Ctrl-C. */
export function losingTheOther(there: System, move: (signal: AbortSignal) => Promise<Outcome>): Promise<Outcome> {
  const ctrlC = new AbortController();
  return whileClosed(
    there,
    () => move(ctrlC.signal),
    async () => {
      ctrlC.abort();
      await rowsOf(there, END);
    },
  );
}

/** Has both servers end its connections, without Ctrl-C. Another command has its lock then, and until it ends, the company is closed. */
export function losingBoth(here: System, there: System, company: TestCompany, move: (args: readonly string[]) => Promise<Outcome>): Promise<Outcome> {
  const begin = (): Promise<Outcome> => move([]);
  return whileClosed(there, begin, async () => {
    await rowsOf(here, END);
    await during(here, `select pg_advisory_xact_lock(hashtextextended('${nameOf(company.id)}', 0))`, async () => {
      await rowsOf(there, END);
      await untilWaiting(here, 'pg_advisory_xact_lock');
      expect((await move(['--status'])).stdout).toContain('"at_work":true');
      await expect(record(here, company)).rejects.toMatchObject({ status: 503 });
    });
  });
}

const LOSE = `create function public.lose() returns trigger language plpgsql as $$ begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$`;
const WHEN_COMPLETE = `create trigger lose before update on integrations.moves for each row when (new.step = 'opening') execute function public.lose()`;

/** Runs a command that moves a company, and has this cell's server end its connection just after the other cell has everything. */
export async function losingThis(here: System, move: () => Promise<Outcome>): Promise<Outcome> {
  for (const text of [LOSE, WHEN_COMPLETE]) await rowsOf(here, text);
  try {
    return await move();
  } finally {
    await rowsOf(here, 'drop function public.lose cascade');
  }
}

async function whileClosed(there: System, move: () => Promise<Outcome>, mishap: () => Promise<void>): Promise<Outcome> {
  return await during(there, 'lock table reporting.due_notes', async () => {
    const moving = move();
    await untilWaiting(there, 'due_notes');
    await mishap();
    return await moving;
  });
}
