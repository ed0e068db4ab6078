// Versions across a restore (docs/adr/0007). A version is the id of the event's row in its owner's outbox. A restored database would
// assign known ids again, so a restore begins an epoch, whose number forms the leading digits of all later ids.
import type { Queryable } from '@truckroll/postgres';

/** Versions have at most 15 digits, which allows 999 restores with 10^12 events between two of them. */
const IDS_OF_EPOCH = 10 ** 12;
const MOST = 999;

/** 0 for versions of before the first restore. */
export function epochOf(version: number): number {
  return Math.floor(version / IDS_OF_EPOCH);
}

/** The epoch of the outbox in the search path. */
export async function currentEpoch(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ last: number }>({ text: 'select last_value as last from outbox_id_seq' });
  return epochOf(rows[0]?.last ?? 0);
}

/** Gives every later event a greater version than all events of earlier epochs. A rollback does not undo it. */
export async function beginEpoch(db: Queryable, epoch: number): Promise<void> {
  if (epoch > MOST) throw new RangeError(`there can be ${MOST} epochs, not ${epoch}`);
  await db.query({ text: `select setval('outbox_id_seq', $1)`, values: [epoch * IDS_OF_EPOCH] });
}
