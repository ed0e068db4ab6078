// What goes wrong in a move.
import { Database } from '@truckroll/postgres';
import { until } from '@truckroll/testing/until';
import type { System } from '../support/system.ts';
import { rowsOf, type Outcome } from './two-cells.ts';

export const DEAD_LETTER = `insert into billing.parked_event (consumer, topic, partition, log_offset, key, headers, reason)
  values ('billing', 't', 0, 1, $1, '{"id":"1"}', 'a defect')`;

export const LATE_ENTRY = `insert into integrations.audit_events (company_id, at, id, actor_kind, actor_id, actor_name, action, object_kind, object_id, after)
  values ($1, now(), gen_random_uuid(), 'OPERATOR', 'o', 'o', 'late', $2, $3, $4)`;

/** Runs a command that moves a company, and has the other cell's server end its connection after the company was closed. */
export async function losingTheOther(there: System, move: () => Promise<Outcome>): Promise<Outcome> {
  const database = new Database({ url: there.serviceEnvironment['DATABASE_URL']!, maxConnections: 1 });
  try {
    return await database.transaction(async (tx) => {
      await tx.query({ text: 'lock table reporting.due_notes' });
      const moving = move();
      const ending = `select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'truckroll-move' and query like '%due_notes%' and wait_event_type = 'Lock'`;
      await until('the command to wait', async () => (await rowsOf(there, ending)).length > 0);
      return await moving;
    });
  } finally {
    await database.close();
  }
}
