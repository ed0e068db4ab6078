// The replication slot of a move, for which PostgreSQL keeps WAL.
import { dropStatement, megabytes } from '../cells/slots.ts';
import type { Cell } from './cells.ts';
import { nameOf } from './replicate.ts';

export interface Slot {
  readonly name: string;
  readonly kept_bytes: number;
  readonly read: boolean;
}

/** Undefined before the move has one, and when it has dropped it. */
export async function slotOf({ db }: Cell, companyId: string): Promise<Slot | undefined> {
  const { rows } = await db.query<Slot>({
    text: `select slot_name::text as name, coalesce(greatest(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0), 0)::bigint as kept_bytes, active as read
      from pg_replication_slots where slot_name = $1`,
    values: [nameOf(companyId)],
  });
  return rows[0];
}

export function inWords({ name, kept_bytes: bytes, read }: Slot, needed: boolean): string {
  if (!needed) return `PostgreSQL keeps ${megabytes(bytes)} of WAL for its slot, which nothing needs: run ${dropStatement(name)} here.`;
  return `PostgreSQL keeps ${megabytes(bytes)} of WAL for it, which the other cell ${read ? 'reads' : 'does not read now'}.`;
}
