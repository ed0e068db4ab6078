// The replication slot of a move, for which PostgreSQL keeps WAL.
import { dropStatement, megabytes } from '../cells/slots.ts';
import type { Cell } from './cells.ts';
import { nameOf } from './state.ts';

export interface Slot {
  readonly name: string;
  readonly kept_bytes: number;
  readonly read: boolean;
  /** Whether PostgreSQL has deleted WAL that it needs. */
  readonly lost: boolean;
}

/** Undefined before the move has one, and when it has dropped it. */
export async function slotOf({ db }: Cell, companyId: string): Promise<Slot | undefined> {
  const { rows } = await db.query<Slot>({
    text: `select slot_name::text as name, coalesce(greatest(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0), 0)::bigint as kept_bytes, active as read,
        coalesce(wal_status = 'lost', false) as lost
      from pg_replication_slots where slot_name = $1`,
    values: [nameOf(companyId)],
  });
  return rows[0];
}

export function inWords({ name, kept_bytes: bytes, read, lost }: Slot, needed: boolean): string {
  if (!needed) return `PostgreSQL keeps ${megabytes(bytes)} of WAL for its slot, which nothing needs: run ${dropStatement(name)} here.`;
  if (lost) return 'Its slot is lost, because PostgreSQL kept no more WAL for it: give up with --abort, and begin again.';
  return `PostgreSQL keeps ${megabytes(bytes)} of WAL for it, which the other cell ${read ? 'reads' : 'does not read now'}.`;
}
