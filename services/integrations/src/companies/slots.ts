// Replication slots of moves (docs/adr/0028). PostgreSQL keeps WAL for each until the other cell has stored it, also for one that no move needs.
import type { MoveSlot } from '@truckroll/contract/gen/integrations/v1/cells';
import type { Database, Queryable } from '@truckroll/postgres';
import { PeriodicTask, logOutage, type BackgroundPart } from '@truckroll/process';
import type { Logger, Metrics } from '@truckroll/telemetry';

const EVERY_MS = 15_000;

const STATES = ['read', 'unread', 'left'] as const;

/** Needs no rights: every role may see slots. Their names are those of `nameOf` in tools/cli/src/moving/replicate.ts. */
export async function selectSlots(db: Queryable): Promise<MoveSlot[]> {
  const { rows } = await db.query<MoveSlot>({
    name: 'slots_of_moves',
    // A move has dropped its slot when it comes to the step "moved".
    text: `select s.slot_name::text as name, coalesce(greatest(pg_wal_lsn_diff(pg_current_wal_lsn(), s.restart_lsn), 0), 0)::bigint as kept_bytes, s.active as read,
        exists (select from moves m where s.slot_name = 'move_' || replace(m.company_id::text, '-', '') and not m.arrives and m.step not in ('moved', 'deleting')) as needed
      from pg_replication_slots s where s.slot_name ~ '^move_[0-9a-f]{32}$' and s.database = current_database() order by 1`,
  });
  return rows;
}

export function slotMetrics(database: Database, log: Logger, metrics: Metrics): BackgroundPart {
  const slots = metrics.gauge(
    'move_slots',
    'Replication slots of moving companies: read by the other cell, unread (as while rows are copied), or left, because no move needs them',
    ['state'],
  );
  const kept = metrics.gauge('move_slot_kept_bytes', 'WAL that PostgreSQL keeps for that one of these slots for which it keeps most');
  return new PeriodicTask(
    EVERY_MS,
    async () => {
      const found = await selectSlots(database);
      const states = found.map(stateOf);
      for (const state of STATES) slots.set({ state }, states.filter((each) => each === state).length);
      kept.set({}, Math.max(0, ...found.map(({ kept_bytes: bytes }) => bytes)));
    },
    (error, failures) => logOutage(log, 'metrics of moves wait for the database', failures, error),
  ).asPart('slots of moves');
}

function stateOf({ needed, read }: MoveSlot): (typeof STATES)[number] {
  if (!needed) return 'left';
  return read ? 'read' : 'unread';
}
