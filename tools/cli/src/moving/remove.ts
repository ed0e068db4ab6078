// Deletes the company's rows of a cell that it leaves, or in which it has not arrived, in batches. Not an erasure: the company may come back.
import { createProgress } from '@truckroll/integrator-cli/terminal/progress';
import { append } from '@truckroll/outbox';
import type { Queryable } from '@truckroll/postgres';
import { SERVICES } from '../restored/renew.ts';
import { asReplica, type Cell } from './cells.ts';
import { ORDER } from './freeze.ts';
import { tablesOf, type MovedTable } from './tables.ts';

const BATCH = 1000;

/** `published`: what its topics of state have of the company is published as removed, as its rows are. */
export async function removeRows(cell: Cell, companyId: string, published: boolean, signal: AbortSignal): Promise<void> {
  const tables = await tablesOf(cell.db);
  const progress = createProgress(cell.session.io, `deleting rows${cell.session.inCell}`, 'rows', cell.session.json);
  let removed = 0;
  await asReplica(cell, async (batch) => {
    await batch(async (db) => {
      await db.query({
        text: 'delete from integrations.webhook_rates where endpoint_id in (select id from integrations.webhook_endpoints where company_id = $1)',
        values: [companyId],
      });
      await db.query({ text: 'delete from reporting.due_notes where company_id = $1', values: [companyId] });
    });
    for (const table of inOrderOfRemoval(tables)) {
      for (let count = BATCH; count >= BATCH; ) {
        signal.throwIfAborted();
        await batch(async (db) => void (count = await removeSome(db, table, companyId, published)));
        if (count > 0) progress.update((removed += count), 0, undefined);
      }
    }
  }).finally(() => progress.end());
}

/**
 * Access first, then each service before those whose messages it reads: what is published as removed finds nothing here any more. A row would
 * keep its consumer waiting for the end of the freeze, and everybody with it.
 */
export function inOrderOfRemoval<T extends Pick<MovedTable, 'name' | 'schema'>>(tables: readonly T[]): T[] {
  const schemas = ORDER.toReversed().map(String);
  const placeOf = ({ name, schema }: T): number => {
    if (['integrations.users', 'integrations.api_keys'].includes(name)) return -1;
    // Integrations publishes it, and reads messages of the others.
    return name === 'integrations.companies' ? schemas.length : schemas.indexOf(schema);
  };
  return tables.toSorted((a, b) => placeOf(a) - placeOf(b));
}

async function removeSome(db: Queryable, { name, schema, table, key }: MovedTable, companyId: string, published: boolean): Promise<number> {
  const state = published ? SERVICES.find((service) => service.schema === schema)?.states.find((each) => each.table === table) : undefined;
  const eventKey = state === undefined ? 'null::text' : `concat_ws('/', ${Object.keys(state.key).join(', ')})`;
  // Another partition may have rows of the company at the same places: they go with them.
  const { rows } = await db.query<{ key: string }>({
    text: `delete from ${name} where ${key} = $1 and ctid = any(array(select ctid from ${name} where ${key} = $1 limit ${BATCH})) returning ${eventKey} as key`,
    values: [companyId],
  });
  if (state !== undefined && rows.length > 0) {
    await db.query({ text: `set local search_path = ${schema}` });
    await append(
      db,
      rows.map((row) => ({ topic: state.topic.name, key: row.key, type: state.removed, companyId, payload: null })),
    );
  }
  return rows.length;
}
