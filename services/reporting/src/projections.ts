import { replay, type IncomingEvent } from '@truckroll/outbox';
import type { Transaction } from '@truckroll/postgres';
import { companiesBehind, recordProjection, type Projected, type Projection, type ReprojectOptions } from '@truckroll/record-store';
import type { ReadModel } from './read-models/read-model.ts';
import { readModels } from './read-models/index.ts';
import { applyAgain, clockOf, removeOlderThan, type RebuildOptions } from './read-models/rebuild.ts';
import { tables } from './resources/index.ts';

type Source = Omit<RebuildOptions, 'signal'>;

export const projected: readonly Projected[] = [...tables, ...readModels.map(asProjected)];

export function projections(source: Source): Projection[] {
  return [...readModels.map((model) => readModelProjection(model, source)), ...tables.map((table) => recordProjection(source.database, table))];
}

function asProjected({ table, version }: ReadModel): Projected {
  return { path: `copies/${table}`, table, version };
}

/** Replays the topic for outdated rows; removes those whose record the topic no longer has. */
function readModelProjection(model: ReadModel, source: Source): Projection {
  const { database, kafka } = source;
  const described = asProjected(model);
  return {
    ...described,
    async renew({ signal, renewed, rest }: ReprojectOptions): Promise<void> {
      const started = await clockOf(database);
      const companies = new Set(await companiesBehind(database, described));
      await replay({
        kafka,
        topic: model.topic,
        signal,
        async apply(events) {
          const startedAt = performance.now();
          const ofThese = events.filter(({ companyId }) => companies.has(companyId));
          renewed(await applyAgain(source, model, ofThese, (tx, some) => ofRowsBehind(tx, model, some)));
          await rest(performance.now() - startedAt);
        },
      });
      renewed(await removeOlderThan(database, model, started, signal, `projection < ${model.version}`));
    },
  };
}

/** The events whose record has an outdated row. */
async function ofRowsBehind(tx: Transaction, { table, version, id }: ReadModel, events: readonly IncomingEvent[]): Promise<IncomingEvent[]> {
  const { rows } = await tx.query<{ key: string }>({
    text: `select key from unnest($1::uuid[], $2::uuid[], $3::text[]) e(company_id, id, key)
      join ${table} c on c.company_id = e.company_id and c.${id ?? 'id'} = e.id where c.projection < ${version}`,
    values: [events.map(({ companyId }) => companyId), events.map(({ key }) => key.slice(key.indexOf('/') + 1)), events.map(({ key }) => key)],
  });
  const behind = new Set(rows.map(({ key }) => key));
  return events.filter(({ key }) => behind.has(key));
}
