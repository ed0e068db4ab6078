// What a restore leaves behind: keys of rows that are gone, consumers, and events that waited.
import { withAdmin, type Keyed, type KafkaClient, type OutboxRow, type OutgoingEvent } from '@truckroll/outbox';
import type { Queryable } from '@truckroll/postgres';

const PAGE = 5000;

/** The keys whose rows are gone. */
export async function missingKeys(db: Queryable, keyed: Keyed, keys: readonly string[]): Promise<string[]> {
  const conditions = partsOf(keyed, 'k.key').map(({ column, part }) => `t.${column} = ${part}`);
  const { rows } = await db.query<{ key: string }>({
    text: `select k.key from unnest($1::text[]) k(key) where not exists (select from ${keyed.table} t where ${conditions.join(' and ')})`,
    values: [[...new Set(keys)]],
  });
  return rows.map(({ key }) => key);
}

/** Keys of all rows, page by page. */
export async function* keysOf(db: Queryable, keyed: Keyed): AsyncGenerator<readonly string[]> {
  const parts = partsOf(keyed, '$1');
  const columns = parts.map(({ column }) => column).join(', ');
  for (let after: string | null | undefined = null; after !== undefined; ) {
    const { rows }: { rows: { key: string }[] } = await db.query<{ key: string }>({
      text: `select concat_ws('/', ${columns}) as key from ${keyed.table}
        where $1::text is null or (${columns}) > (${parts.map(({ part }) => part).join(', ')}) order by ${columns} limit ${PAGE}`,
      values: [after],
    });
    if (rows.length > 0) yield rows.map(({ key }) => key);
    after = rows.at(-1)?.key;
  }
}

function partsOf({ key }: Keyed, text: string): { column: string; part: string }[] {
  return Object.entries(key).map(([column, type], index) => ({ column, part: `split_part(${text}, '/', ${index + 1})::${type}` }));
}

/** The groups with a running consumer. */
export function groupsAtWork(kafka: KafkaClient, groups: readonly string[]): Promise<string[]> {
  return withAdmin(kafka, async (admin) => {
    const { groups: found } = await admin.describeGroups(groups.map((group) => kafka.prefix + group));
    return found.filter(({ members }) => members.length > 0).map(({ groupId }) => groupId.slice(kafka.prefix.length));
  });
}

/** An event with the version it had in its owner's outbox. */
export interface Placed {
  readonly version: number;
  readonly event: OutgoingEvent & { readonly id: string };
}

/** Deletes all rows of the outbox and returns them as events. */
export async function takeWaiting(tx: Queryable): Promise<Placed[]> {
  const { rows } = await tx.query<Omit<OutboxRow, 'trace' | 'request_id' | 'created_at'>>({
    text: 'delete from outbox returning id, event_id, topic, key, type, company_id, sequence, payload, people',
  });
  return rows.map(({ id, event_id, company_id, sequence, people, ...row }) => ({
    version: id,
    event: {
      ...row,
      id: event_id,
      companyId: company_id,
      ...(sequence === null ? {} : { sequence }),
      people: people ?? undefined,
    },
  }));
}
