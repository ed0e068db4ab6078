// One batch of the removal of a company, in a transaction that holds its row in erased_companies: replicas take turns.
import { append, type PublishedState } from '@truckroll/outbox';
import type { Queryable, Statement, Transaction } from '@truckroll/postgres';
import { ADMITTED, anyOlder } from './admitted.ts';
import type { ErasureOptions } from './options.ts';
import { rulesOf, type Rule, type TableRule } from './tables.ts';

/** Rows removed by one transaction, without those that go with them. */
const BATCH = 1000;
const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Interval in ms between lines of the log that say why the removal of a company waits. */
const SAY_MS = 60_000;

export interface Removing extends ErasureOptions {
  readonly own: readonly TableRule[];
  /** By company, the number of the rule at which this process continues. */
  readonly at: Map<string, number>;
  /** Companies of which the last round found nothing, although something may still arrive. */
  readonly clean: Set<string>;
  /** By company, when the log last said why its removal waits. */
  readonly said: Map<string, number>;
}

const CALLS = 'calls that were admitted before it began';

/**
 * SQL: what may still store or send something of the company $1::uuid, whose row of erased_companies is `e`. Null if nothing: a call that was
 * admitted before, or a transaction that began before the company was refused.
 */
export function waiting(waitsFor = 'null::text'): string {
  return `coalesce(case when e.closed_at is null or e.closed_at >= now() - ${ADMITTED} then '${CALLS}'
    when ${anyOlder('e.closed_at')} then 'a transaction of its database role that began before it'
    when exists (select from outbox where company_id = $1::uuid) then 'messages to Kafka' end, ${waitsFor})`;
}

/** Removes the next rows of each company that is being deleted. Returns false if nothing can be removed at the moment. */
export async function removeNext(removing: Removing): Promise<boolean> {
  const { database } = removing;
  const { rows } = await database.query<{ id: string }>({
    name: 'companies_to_erase',
    text: 'select id from erased_companies where id is not null order by begun_at',
  });
  let more = false;
  const failures: unknown[] = [];
  for (const { id: companyId } of rows) {
    try {
      if (await database.transaction((tx) => removeOf(tx, removing, companyId), { retryContention: true })) more = true;
    } catch (error) {
      // One company's fault keeps no other one waiting.
      failures.push(error);
    }
  }
  if (!more && failures.length > 0) throw failures[0];
  return more;
}

/**
 * The removal ends with a round that finds nothing, and that began when nothing could arrive any more: what a transaction committed after the
 * round had looked at its table is found by the next one.
 */
async function removeOf(tx: Transaction, removing: Removing, companyId: string): Promise<boolean> {
  const { rows } = await tx.query<{ closed: boolean; waits_for: string | null }>({
    name: 'hold_company_to_erase',
    text: `select closed_at is not null as closed, ${waiting(removing.waitsFor)} as waits_for
      from erased_companies e where e.id = $1::uuid for no key update skip locked`,
    values: [companyId],
  });
  if (rows[0] === undefined) return false;
  const { closed, waits_for: waitsFor } = rows[0];
  if (!closed) {
    removing.clean.delete(companyId);
    await tx.query({ text: 'update erased_companies set closed_at = clock_timestamp() where id = $1', values: [companyId] });
    return true;
  }
  if (waitsFor !== null && removing.clean.has(companyId)) return wait(removing, companyId, waitsFor);
  await removing.lock?.(tx, companyId);
  const rules = await rulesOf(tx, removing.own);
  const first = removing.at.get(companyId) ?? 0;
  // Until the transaction has committed, an error makes the next one begin with the first rule.
  removing.at.delete(companyId);
  const last = rules.findIndex((rule) => rule.last === true);
  let left = BATCH;
  for (let n = 0; n < rules.length; n++) {
    const index = (first + n) % rules.length;
    const rule = rules[index]!;
    if (index === last) await removing.prepare?.(tx, companyId);
    left -= await remove(tx, removing, rule, companyId, left);
    if (left > 0) continue;
    tx.afterCommit(() => removing.at.set(companyId, index));
    return true;
  }
  if (left < BATCH) return true;
  if (waitsFor !== null) return wait(removing, companyId, waitsFor);
  // The batches leave out a row that another transaction changes at the same time.
  if (await anyRow(tx, rules, companyId)) return true;
  await end(tx, companyId);
  return false;
}

function wait({ clean, said, log }: Removing, companyId: string, waitsFor: string): false {
  clean.add(companyId);
  const now = performance.now();
  if (waitsFor === CALLS || now - (said.get(companyId) ?? -Infinity) < SAY_MS) return false;
  said.set(companyId, now);
  log.warn({ companyId, waitsFor }, 'the removal of a deleted company cannot end yet');
  return false;
}

async function anyRow(db: Queryable, rules: readonly Rule[], companyId: string): Promise<boolean> {
  const { rows } = await db.query<{ any: boolean }>({
    text: `select ${rules.map(({ only, where }) => `exists (select from only ${only} where ${where})`).join(' or ')} as any`,
    values: [companyId],
  });
  return rows[0]?.any === true;
}

async function remove(tx: Transaction, { restored }: Removing, rule: Rule, companyId: string, most: number): Promise<number> {
  const state = restored.states.find(({ table }) => table === rule.table);
  const { rows } = await tx.query<{ key: string | null; others: number[] }>(removal(rule, state, companyId, most));
  if (rows.length === 0) return 0;
  if (state !== undefined) {
    await append(
      tx,
      rows.map(({ key }) => ({ topic: state.topic.name, key: key as string, type: state.removed, companyId, payload: null })),
    );
  }
  await note(tx, companyId, rule.table, rows.length);
  for (const [index, table] of Object.keys(rule.with?.rows ?? {}).entries()) {
    const count = rows[0]!.others[index] ?? 0;
    if (count > 0) await note(tx, companyId, table, count);
  }
  return rows.length;
}

function removal({ only, where, with: others }: Rule, state: PublishedState | undefined, companyId: string, most: number): Statement {
  const key = state === undefined ? 'null::text' : `concat_ws('/', ${Object.keys(state.key).join(', ')})`;
  const gone = Object.entries(others?.rows ?? {}).map(([table, on]) => `delete from ${table} o using gone g where ${on} returning 1`);
  return {
    text: `with gone as (
        delete from only ${only} where (${where}) and ctid = any(array(select ctid from only ${only} where ${where} limit ${most}))
        returning ${key} as event_key${others === undefined ? '' : `, ${others.key}`})${gone.map((each, n) => `, others_${n} as (${each})`).join('')}
      select event_key as key, array[${gone.map((_, n) => `(select count(*) from others_${n})`).join(', ')}]::bigint[] as others from gone`,
    values: [companyId],
  };
}

async function note(tx: Queryable, companyId: string, table: string, rows: number): Promise<void> {
  await tx.query({
    name: 'note_erased_rows',
    text: `update erased_companies set removed = removed || jsonb_build_object($2::text, coalesce((removed ->> $2)::bigint, 0) + $3::bigint)
      where id = $1`,
    values: [companyId, table, rows],
  });
}

/** Forgets the id. */
async function end(tx: Transaction, companyId: string): Promise<void> {
  await tx.query({
    text: `update catch_up set company_id = $2, after = '${LAST}' where company_id = $1`,
    values: [companyId, idBefore(companyId)],
  });
  await tx.query({ text: 'update erased_companies set id = null, ended_at = now() where id = $1', values: [companyId] });
}

/** The greatest id below this one: a run that continues after all records of it continues with the company's successors. */
function idBefore(id: string): string {
  const hex = (BigInt(`0x${id.replaceAll('-', '')}`) - 1n).toString(16).padStart(32, '0');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
