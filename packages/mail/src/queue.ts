import type { Database } from '@truckroll/service-kit';

/**
 * The name of a table that a sender works on, in the schema of the service that sends. It has these columns: status, from QUEUED by ATTEMPTING to SENT, FAILED, UNKNOWN or
 * SUPPRESSED; due_at, when it may be tried; attempt_ends_at, when an attempt that has told no end counts as lost;
 * finished_at and detail.
 */
export type QueueTable = string;

/** Whether there is anything to take or to give up. */
export async function hasWork(database: Database, table: QueueTable): Promise<boolean> {
  const { rows } = await database.query<{ work: boolean }>({
    name: `${table}_waiting`,
    text: `select exists (select from ${table} where status = 'QUEUED' and due_at <= now())
      or exists (select from ${table} where status = 'ATTEMPTING' and attempt_ends_at < now()) as work`,
  });
  return rows[0]?.work === true;
}

/** How long what became of a message can be looked up. */
const KEPT = `interval '90 days'`;
const FORGOTTEN_AT_ONCE = 1000;

/** Deletes what ended long ago, passing over what another replica deletes just now. Resolves to how many there were. */
export async function forgetEnded(database: Database, table: QueueTable): Promise<number> {
  for (let forgotten = 0; ; ) {
    const { rowCount } = await database.query({
      name: `forget_${table}`,
      text: `delete from ${table} where ctid = any(array(
        select ctid from ${table} where finished_at < now() - ${KEPT} limit ${FORGOTTEN_AT_ONCE} for update skip locked))`,
    });
    forgotten += rowCount;
    if (rowCount < FORGOTTEN_AT_ONCE) return forgotten;
  }
}

/** Attempts whose process has gone without a word: what came of them is never known. Resolves to their number. */
export async function giveUp(database: Database, table: QueueTable): Promise<number> {
  const { rowCount } = await database.query({
    name: `give_up_${table}`,
    text: `update ${table} set status = 'UNKNOWN', finished_at = now(), detail = 'the attempt was cut short'
      where status = 'ATTEMPTING' and attempt_ends_at < now()`,
  });
  return rowCount;
}
