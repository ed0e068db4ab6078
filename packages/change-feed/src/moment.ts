// Which changes may be read, and their versions. Stored versions are the database's. Shown ones, which cursors have too, are the same, except
// in a company that has moved to this database: its shown versions go on from those of the database that it left (docs/adr/0027).

/** A stored version is the epoch times this, plus the transaction's id (change_version in the migration). Numbers hold 900 epochs exactly. */
export const VERSIONS_OF_EPOCH = 10 ** 13;

/** SQL: the oldest transaction that is still active, the first one that has not begun, and the epoch, of `pg_current_snapshot() s`. */
export const transactionsBy = (sequence: string): string =>
  `pg_snapshot_xmin(s)::text::bigint as oldest, pg_snapshot_xmax(s)::text::bigint as next, (select last_value / 1000000000000 from ${sequence}) as epoch`;

export interface Moment {
  readonly epoch: number;
  /** All changes with lower versions are committed and visible, or will never be. */
  readonly below: number;
  /** Every change committed before this time, in microseconds, is below. 0 if no such time is known. */
  readonly asOf: number;
}

/** A row of `shifts`. */
interface Shift {
  readonly added: number;
  readonly lowest: number;
  readonly shared_from: number;
  /** Null until the company has arrived. */
  readonly arrived_epoch: number | null;
  readonly epochs: number;
}

/** The columns of `shifts h`, to be joined on its company: `added` is null for a company that has always been here. */
export const SHIFT_COLUMNS = 'h.added, h.lowest, h.shared_from, h.arrived_epoch, h.epochs';

/** An outer join finds a row or none. */
export type MaybeShift = Shift | { readonly added: null };

/** A moment as one company is shown it: the epoch and `below` are shown ones. */
export interface CompanyMoment extends Moment {
  /** Shown versions are stored ones and this. */
  readonly added: number;
  /** No record is shown with a lower version. */
  readonly lowest: number;
  /** If the company has moved: the lowest shown version of changes that are the same in every company. It has read none of them before. */
  readonly sharedFrom: number | undefined;
}

/** The lowest version that is shown. A restore of the database raises it, except one from before the company arrived. */
export function lowestOf(epoch: number, shift: MaybeShift): number {
  if (shift.added === null) return epoch * VERSIONS_OF_EPOCH;
  const restored = shift.arrived_epoch !== null && epoch > shift.arrived_epoch;
  return restored ? epoch * VERSIONS_OF_EPOCH + shift.added : shift.lowest;
}

export function shownMoment({ epoch, below, asOf }: Moment, shift: MaybeShift): CompanyMoment {
  const lowest = lowestOf(epoch, shift);
  if (shift.added === null) return { epoch, below, asOf, added: 0, lowest, sharedFrom: undefined };
  return { epoch: epoch + shift.epochs, below: below + shift.added, asOf, added: shift.added, lowest, sharedFrom: shift.shared_from };
}
