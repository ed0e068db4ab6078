// The bug: changes are read up to the last transaction id that was assigned, as if ids were committed in the order of their sequence. A
// change that is committed late is then behind the reader, who never gets it.
import { Database as Original } from '../../../../packages/postgres/src/database.ts';
import type { Statement } from '../../../../packages/postgres/src/statement.ts';

export * from '../../../../packages/postgres/src/database.ts';

export class Database extends Original {
  override query<R = Record<string, unknown>>({ text, ...rest }: Statement) {
    return super.query<R>({ ...rest, text: text.replace('pg_snapshot_xmin(s)', 'pg_snapshot_xmax(s)') });
  }
}
