// Versions across a restore (docs/adr/0007). A version is the id of the event's row in its owner's outbox, and PostgreSQL that
// was restored to an earlier moment would give out ids again that topics and read models have already seen: what is newer would be
// taken for older. So a restore begins an epoch, which stands in front of all ids that are given out after it.
import type { Queryable } from '@truckroll/service-kit';

/** Versions have at most fifteen digits: 999 restores, and 10^12 events between two of them. */
const IDS_OF_EPOCH = 10 ** 12;
const MOST = 999;

export function epochOf(version: number): number {
  return Math.floor(version / IDS_OF_EPOCH);
}

/** That of the outbox in the search path. */
export async function currentEpoch(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ last: number }>({ text: 'select last_value as last from outbox_id_seq' });
  return epochOf(rows[0]?.last ?? 0);
}

/** From here on, every event has a greater version than all that were published in epochs before. Not undone with the transaction. */
export async function beginEpoch(db: Queryable, epoch: number): Promise<void> {
  if (epoch > MOST) throw new RangeError(`there can be ${MOST} epochs, not ${epoch}`);
  await db.query({ text: `select setval('outbox_id_seq', $1)`, values: [epoch * IDS_OF_EPOCH] });
}
