// Rebuilds the read models from their topics, while reads and the subscriber continue (docs/how-to/runbook.md, Read models).
import type { RebuildResponse } from '@truckroll/contract/gen/reporting/v1/admin';
import { endsOf, notOlder, overallOf, replay, type IncomingEvent, type KafkaClient } from '@truckroll/outbox';
import type { Database, Transaction } from '@truckroll/postgres';
import { applyTo, lock, removeFrom, type ReadModel } from './read-model.ts';

export interface RebuildOptions {
  database: Database;
  kafka: KafkaClient;
  /** The subscriber's consumer group: versions that it has applied are not undone. */
  group: string;
  signal: AbortSignal;
}

const CHUNK = 500;

export async function rebuildAll(readModels: readonly ReadModel[], options: RebuildOptions, report: (step: RebuildResponse) => void): Promise<void> {
  const topics = readModels.map(({ topic }) => topic);
  const overall = overallOf(await endsOf(options.kafka, topics));
  for (const model of readModels) {
    const shareOfAll = overall(model.topic.name);
    await rebuild(model, options, (step, share) => report({ ...step, share: shareOfAll(share) }));
  }
}

type Step = Omit<RebuildResponse, 'share'>;

/** At the end, removes rows that the topic no longer has; rows changed since the start stay. `share` is this topic's progress, from 0 to 1. */
async function rebuild(model: ReadModel, options: RebuildOptions, report: (step: Step, share: number) => void): Promise<void> {
  const { database, kafka, signal } = options;
  const started = await clockOf(database);
  let applied = 0;
  await replay({
    kafka,
    topic: model.topic,
    signal,
    async apply(events) {
      await applyAgain(options, model, events);
      applied += events.length;
    },
    progress: (share) => report({ table: model.table, applied, removed: 0, done: false }, share),
  });
  const removed = await removeOlderThan(database, model, started, signal);
  report({ table: model.table, applied, removed, done: true }, 1);
}

type Choose = (tx: Transaction, events: readonly IncomingEvent[]) => Promise<readonly IncomingEvent[]>;

/** Applies events again, or those that `choose` returns, unless newer ones have been applied. Returns the number of their records. */
export async function applyAgain(
  { database, group }: Pick<RebuildOptions, 'database' | 'group'>,
  model: ReadModel,
  events: readonly IncomingEvent[],
  choose: Choose = async (_, all) => all,
): Promise<number> {
  let records = 0;
  for (let start = 0; start < events.length; start += CHUNK) {
    const applying = async (tx: Transaction): Promise<number> => {
      const chosen = await choose(tx, events.slice(start, start + CHUNK));
      const current = await notOlder(tx, group, chosen);
      if (current.length > 0) await applyTo(model, tx, current);
      return new Set(chosen.map(({ key }) => key)).size;
    };
    records += await database.transaction(applying, { retryContention: true });
  }
  return records;
}

export async function clockOf(database: Database): Promise<string> {
  const { rows } = await database.query<{ started: string }>({ text: 'select clock_timestamp()::text as started' });
  return rows[0]?.started as string;
}

/** Removes rows last written before `started`, which the topic no longer has; `which` is a further SQL condition. Returns the number of rows. */
export async function removeOlderThan(database: Database, model: ReadModel, started: string, signal: AbortSignal, which = 'true'): Promise<number> {
  let removed = 0;
  const id = model.id ?? 'id';
  const older = `select company_id, ${id} as id from ${model.table} where copied_at < $1::timestamptz and ${which}`;
  for (;;) {
    signal.throwIfAborted();
    const { rows } = await database.query<{ company_id: string; id: string }>({ text: `${older} limit ${CHUNK}`, values: [started] });
    if (rows.length === 0) return removed;
    for (const [companyId, ofCompany] of Map.groupBy(rows, (row) => row.company_id)) {
      removed += await database.transaction(async (tx) => {
        await lock(model, tx, companyId);
        // The subscriber may have written some of them before the lock was free.
        const { rows: still } = await tx.query<{ id: string }>({
          text: `${older} and company_id = $2 and ${id} = any($3::uuid[])`,
          values: [started, companyId, ofCompany.map((row) => row.id)],
        });
        const ids = still.map((row) => row.id);
        if (ids.length > 0) await removeFrom(model, tx, companyId, ids);
        return ids.length;
      });
    }
  }
}
