import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@truckroll/local-stack';

export function operationsSql(heading: string): string {
  const text = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
  const [, below] = text.split(`\n${heading}\n`);
  const sql = /```sql\n(.*?)```/s.exec(below ?? '')?.[1];
  if (sql === undefined) throw new Error(`docs/operations.md has no SQL below ${heading}`);
  return sql;
}
