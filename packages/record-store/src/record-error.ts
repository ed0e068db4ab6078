import { EventTooLarge } from '@truckroll/outbox';
import { StatementError } from '@truckroll/postgres';
import { LARGEST_RECORD } from './large.ts';

/** A record that could not be shown, because a derived value exceeds what its field can hold. */
export class RecordError extends Error {
  override readonly name = 'RecordError';
  readonly path: string;
  readonly id: string;
  /** Dotted path of the field that cannot hold its value. */
  readonly field: string;

  constructor(path: string, id: string, field: string, limit: string) {
    super(`${field} of ${path}/${id} would be beyond ${limit}`);
    this.path = path;
    this.id = id;
    this.field = field;
  }
}

/** A record that could not be read, because it would be above LARGEST_RECORD. */
export class RecordTooLarge extends RangeError {
  override readonly name = 'RecordTooLarge';

  constructor(path: string, id: string, bytes: number) {
    super(`${path}/${id} takes ${bytes} bytes, and a record has at most ${LARGEST_RECORD}: shorten its texts or lists`);
  }
}

/** The cents of a record's field. Errors: RecordError for undefined, which means that a sum exceeds the range of cents. */
export function heldCents(path: string, id: string, field: string, cents: number | undefined): number {
  if (cents === undefined) throw new RecordError(path, id, field, '±9007199254740991');
  return cents;
}

/** SQLSTATE classes for bad values: data exception, integrity violation, PostgreSQL's own limits. */
const OF_VALUES = ['22', '23', '54'];

/** Whether the stored values cause the error, so that other records can still be stored. */
export function liesInRecords(error: unknown): boolean {
  if (error instanceof StatementError) return OF_VALUES.some((state) => error.sqlState.startsWith(state));
  return error instanceof RecordError || error instanceof RangeError;
}

/** The message for an import line whose record, or one derived from it, cannot be stored. Takes what `liesInRecords` recognises. */
export function reasonOf(error: unknown): string {
  if (error instanceof RecordError || error instanceof RecordTooLarge) return `With it, ${error.message}.`;
  if (error instanceof EventTooLarge) {
    const { key, bytes, most } = error;
    return `With it, the record ${key.slice(key.indexOf('/') + 1)} takes ${bytes} bytes, more than can be published to other services: at most ${most}.`;
  }
  if (error instanceof StatementError) return 'The database cannot hold one of its values: shorten the longest texts.';
  return 'One of its values, or a sum of several, is beyond ±9007199254740991.';
}
