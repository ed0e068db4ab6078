import { notFreezing, type Database } from '@truckroll/postgres';

/**
 * Name of a queue table in the sending service's schema. Its columns: company_id; status, from QUEUED through ATTEMPTING to SENT, FAILED,
 * UNKNOWN or SUPPRESSED; due_at, when the next attempt is due; attempt_ends_at, when an attempt without a result counts as lost;
 * finished_at and detail.
 */
export type QueueTable = string;

/** Whether a message is due, or an attempt has timed out without a result. */
export async function hasWork(database: Database, table: QueueTable): Promise<boolean> {
  const { rows } = await database.query<{ work: boolean }>({
    name: `${table}_waiting`,
    text: `select exists (select from ${table} where status = 'QUEUED' and due_at <= now())
      or exists (select from ${table} where status = 'ATTEMPTING' and attempt_ends_at < now()) as work`,
  });
  return rows[0]?.work === true;
}

const KEPT = `interval '90 days'`;
const FORGOTTEN_AT_ONCE = 1000;

/** Deletes messages that finished before the retention, and skips rows that another replica is deleting. Resolves to their number. */
export async function forgetEnded(database: Database, table: QueueTable): Promise<number> {
  for (let forgotten = 0; ; ) {
    const { rowCount } = await database.query({
      name: `forget_${table}`,
      text: `delete from ${table} where ctid = any(array(
        select ctid from ${table} where finished_at < now() - ${KEPT} and ${notFreezing(`${table}.company_id`)} limit ${FORGOTTEN_AT_ONCE} for update skip locked))`,
    });
    forgotten += rowCount;
    if (rowCount < FORGOTTEN_AT_ONCE) return forgotten;
  }
}

/** Marks attempts that were cut short as UNKNOWN. They are not repeated, because the message may have been sent (decisions §5). Resolves to their number. */
export async function giveUp(database: Database, table: QueueTable): Promise<number> {
  const { rowCount } = await database.query({
    name: `give_up_${table}`,
    text: `update ${table} set status = 'UNKNOWN', finished_at = now(), detail = 'the attempt was cut short'
      where status = 'ATTEMPTING' and attempt_ends_at < now() and ${notFreezing(`${table}.company_id`)}`,
  });
  return rowCount;
}
