import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@truckroll/local-stack';

/** The first SQL below a heading of docs/how-to/<page>.md. */
export function documentedSql(page: string, heading: string): string {
  const text = readFileSync(join(ROOT, `docs/how-to/${page}.md`), 'utf8');
  const [, below] = text.split(`\n${heading}\n`);
  const sql = /```sql\n(.*?)```/s.exec(below ?? '')?.[1];
  if (sql === undefined) throw new Error(`docs/how-to/${page}.md has no SQL below ${heading}`);
  return sql;
}
