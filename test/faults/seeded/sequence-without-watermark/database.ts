// The bug: changes are read up to the last assigned transaction id, as if ids were committed in their order. A change that commits late is never read.
import { Database as Original } from '../../../../packages/postgres/src/database.ts';
import type { Statement } from '../../../../packages/postgres/src/statement.ts';

export * from '../../../../packages/postgres/src/database.ts';

export class Database extends Original {
  override query<R = Record<string, unknown>>({ text, ...rest }: Statement) {
    return super.query<R>({ ...rest, text: text.replace('pg_snapshot_xmin(s)', 'pg_snapshot_xmax(s)') });
  }
}
