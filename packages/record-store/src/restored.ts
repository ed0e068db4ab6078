// Records and names after PostgreSQL was restored to an earlier time (docs/adr/0007).
import { topics } from '@truckroll/contract';
import type { ReadModelKeys, PublishedState } from '@truckroll/outbox';
import type { Queryable } from '@truckroll/postgres';
import type { Table } from './table.ts';

const PAGE = 5000;

export function recordStates(tables: readonly Table[]): PublishedState[] {
  return tables.flatMap(({ publishes, table }) =>
    publishes === undefined
      ? []
      : [
          {
            topic: publishes.topic,
            removed: publishes.type.replace('.changed', '.removed'),
            missing: (db: Queryable, keys: readonly string[]) =>
              missing(db, keys, `${table} t where t.company_id = k.part[1]::uuid and t.id = k.part[2]::uuid`),
          },
        ],
  );
}

export const nameState: PublishedState = {
  topic: topics.names,
  removed: 'name.removed',
  missing: (db, keys) => missing(db, keys, 'names n where n.company_id = k.part[1]::uuid and n.kind = k.part[2] and n.id = k.part[3]::uuid'),
};

async function missing(db: Queryable, keys: readonly string[], where: string): Promise<string[]> {
  const { rows } = await db.query<{ key: string }>({
    text: `select k.key from (select key, string_to_array(key, '/') as part from unnest($1::text[]) key) k where not exists (select from ${where})`,
    values: [keys],
  });
  return rows.map(({ key }) => key);
}

export const namesReadModel: ReadModelKeys = {
  topic: topics.names,
  async *keys(db) {
    for (let after: string | undefined; ; ) {
      const names = await namePage(db, after);
      if (names.length === 0) return;
      yield names.map(({ key }) => key);
      after = names.at(-1)?.key;
    }
  },
};

export interface StoredName {
  readonly key: string;
  readonly company_id: string;
  readonly kind: string;
  readonly id: string;
  readonly name: string;
}

export async function namePage(db: Queryable, after?: string): Promise<StoredName[]> {
  const [company, kind, id] = after?.split('/') ?? [null, null, null];
  const { rows } = await db.query<StoredName>({
    text: `select company_id || '/' || kind || '/' || id as key, company_id, kind, id, name from names
      where $1::uuid is null or (company_id, kind, id) > ($1::uuid, $2::text, $3::uuid) order by company_id, kind, id limit ${PAGE}`,
    values: [company, kind, id],
  });
  return rows;
}

export async function* keysOf(db: Queryable, table: string): AsyncIterable<readonly string[]> {
  for (let after: string | undefined; ; ) {
    const { rows } = await db.query<{ key: string }>({
      text: `select company_id || '/' || id as key from ${table}
        where $1::text is null or (company_id, id) > (split_part($1, '/', 1)::uuid, split_part($1, '/', 2)::uuid) order by company_id, id limit ${PAGE}`,
      values: [after ?? null],
    });
    if (rows.length === 0) return;
    yield rows.map(({ key }) => key);
    after = rows.at(-1)?.key;
  }
}

export async function publishAnew(tx: Queryable): Promise<void> {
  await tx.query({ text: 'update publications set company_id = null, after = null, published = 0, done = false, complete = false' });
}
