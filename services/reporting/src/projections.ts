import { notOlder, replay, type IncomingEvent } from '@truckroll/outbox';
import type { Database } from '@truckroll/postgres';
import { companiesBehind, recordProjection, type Projected, type Projection, type ReprojectOptions } from '@truckroll/record-store';
import { applyTo, type ReadModel } from './read-models/read-model.ts';
import { readModels } from './read-models/index.ts';
import { removeOlderThan, type RebuildOptions } from './read-models/rebuild.ts';
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
  const { database, kafka, group } = source;
  const described = asProjected(model);
  return {
    ...described,
    async renew({ signal, renewed, rest }: ReprojectOptions): Promise<void> {
      const started = await clock(database);
      const companies = new Set(await companiesBehind(database, described));
      await replay({
        kafka,
        topic: model.topic,
        signal,
        async apply(events) {
          const startedAt = performance.now();
          const ofThese = events.filter(({ companyId }) => companies.has(companyId));
          for (let start = 0; start < ofThese.length; start += CHUNK) {
            renewed(await applyBehind(database, group, model, ofThese.slice(start, start + CHUNK)));
          }
          await rest(performance.now() - startedAt);
        },
      });
      renewed(await removeOlderThan(database, model, started, signal, `projection < ${model.version}`));
    },
  };
}

const CHUNK = 500;

/** Returns the number of outdated rows whose record was among the events. */
function applyBehind(database: Database, group: string, model: ReadModel, events: readonly IncomingEvent[]): Promise<number> {
  return database.transaction(
    async (tx) => {
      const { rows } = await tx.query<{ key: string }>({
        text: `select key from unnest($1::uuid[], $2::uuid[], $3::text[]) e(company_id, id, key)
          join ${model.table} c on c.company_id = e.company_id ${model.remove === undefined ? '' : 'and c.id = e.id'} where c.projection < ${model.version}`,
        values: [events.map(({ companyId }) => companyId), events.map(({ key }) => key.slice(key.indexOf('/') + 1)), events.map(({ key }) => key)],
      });
      const behind = new Set(rows.map(({ key }) => key));
      const current = await notOlder(
        tx,
        group,
        events.filter(({ key }) => behind.has(key)),
      );
      if (current.length > 0) await applyTo(model, tx, current);
      return behind.size;
    },
    { retryContention: true },
  );
}

async function clock(database: Database): Promise<string> {
  const { rows } = await database.query<{ started: string }>({ text: 'select clock_timestamp()::text as started' });
  return rows[0]?.started as string;
}
