// What reporting projects: its records from their documents, its copies from the topics that they came by.
import { notOlder, replay, type IncomingEvent } from '@truckroll/outbox';
import { companiesBehind, recordProjection, type Projected, type Projection, type Renewing } from '@truckroll/record-store';
import type { Database } from '@truckroll/service-kit';
import { applyTo, type Copy } from './copies/copy.ts';
import { copies } from './copies/index.ts';
import { removeOlderThan, type RebuildOptions } from './copies/rebuild.ts';
import { tables } from './resources/index.ts';

type Source = Omit<RebuildOptions, 'signal'>;

export const projected: readonly Projected[] = [...tables, ...copies.map(asProjected)];

export function projections(source: Source): Projection[] {
  return [...copies.map((copy) => copyProjection(copy, source)), ...tables.map((table) => recordProjection(source.database, table))];
}

function asProjected({ table, version }: Copy): Projected {
  return { path: `copies/${table}`, table, version };
}

/** Reads the topic again for the rows that are older; those whose record the topic no longer has are removed. */
function copyProjection(copy: Copy, source: Source): Projection {
  const { database, kafka, group } = source;
  const described = asProjected(copy);
  return {
    ...described,
    async renew({ signal, renewed, rest }: Renewing): Promise<void> {
      const started = await clock(database);
      const companies = new Set(await companiesBehind(database, described));
      await replay({
        kafka,
        topic: copy.topic,
        signal,
        async apply(events) {
          const startedAt = performance.now();
          const ofThese = events.filter(({ companyId }) => companies.has(companyId));
          for (let start = 0; start < ofThese.length; start += CHUNK) {
            renewed(await copyAgain(database, group, copy, ofThese.slice(start, start + CHUNK)));
          }
          await rest(performance.now() - startedAt);
        },
      });
      renewed(await removeOlderThan(database, copy, started, signal, `projection < ${copy.version}`));
    },
  };
}

const CHUNK = 500;

/** Returns for how many older rows the topic had their record. */
function copyAgain(database: Database, group: string, copy: Copy, events: readonly IncomingEvent[]): Promise<number> {
  return database.transaction(
    async (tx) => {
      const { rows } = await tx.query<{ key: string }>({
        text: `select key from unnest($1::uuid[], $2::uuid[], $3::text[]) e(company_id, id, key)
          join ${copy.table} c on c.company_id = e.company_id ${copy.remove === undefined ? '' : 'and c.id = e.id'} where c.projection < ${copy.version}`,
        values: [events.map(({ companyId }) => companyId), events.map(({ key }) => key.slice(key.indexOf('/') + 1)), events.map(({ key }) => key)],
      });
      const behind = new Set(rows.map(({ key }) => key));
      const current = await notOlder(tx, group, events.filter(({ key }) => behind.has(key)));
      if (current.length > 0) await applyTo(copy, tx, current);
      return behind.size;
    },
    { retryContention: true },
  );
}

async function clock(database: Database): Promise<string> {
  const { rows } = await database.query<{ started: string }>({ text: 'select clock_timestamp()::text as started' });
  return rows[0]?.started as string;
}
