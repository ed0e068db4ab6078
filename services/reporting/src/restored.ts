// After a restore, reporting continues where the owners begin to publish everything again.
import { topics } from '@truckroll/contract';
import type { Offsets, Restored } from '@truckroll/outbox';
import type { Queryable } from '@truckroll/postgres';
import { keyedById, keyedNames } from '@truckroll/record-store';
import { readModels, recordReadModels } from './read-models/index.ts';
import { COUNTED_TOPICS } from './freshness/as-of.ts';
import { schema } from './schema.ts';

export const restored: Restored = {
  schema: schema.schema,
  states: [],
  readModels: [
    keyedNames,
    { topic: topics.companies, table: 'companies', key: { company_id: 'uuid' } },
    ...recordReadModels.map(({ topic, table }) => keyedById(topic, table)),
  ],
  groups: [{ group: schema.schema, topics: [topics.names, ...readModels.map(({ topic }) => topic), topics.watermarks] }],
  async renew() {
    // Reporting publishes nothing, and its own records were restored to the same time.
  },
};

/** Time up to which everything was in the figures, shortly before the restored moment. Microseconds; undefined before the first watermark. */
export async function lastKnown(db: Queryable): Promise<number | undefined> {
  const { rows } = await db.query<{ at: number | null }>({ text: 'select max(at) as at from applied_until' });
  return rows[0]?.at ?? undefined;
}

/** Continues after these ends. Drops earlier watermarks: they name offsets that were never applied here. */
export async function skipTo(tx: Queryable, ends: Offsets): Promise<void> {
  await tx.query({ text: 'delete from positions' });
  await tx.query({ text: 'delete from watermarks' });
  const applied = COUNTED_TOPICS.flatMap((topic) => (ends.get(topic) ?? []).map(({ partition, offset }) => ({ topic, partition, last: Number(offset) - 1 })));
  await tx.query({
    text: 'insert into positions (topic, partition, log_offset) select * from unnest($1::text[], $2::int[], $3::bigint[])',
    values: [applied.map(({ topic }) => topic), applied.map(({ partition }) => partition), applied.map(({ last }) => last)],
  });
}
