// One batch of the removal of a company, in a transaction that holds its row in erased_companies: replicas take turns.
import { append, type PublishedState } from '@truckroll/outbox';
import type { Queryable, Statement, Transaction } from '@truckroll/postgres';
import type { ErasureOptions } from './options.ts';
import { rulesOf, type TableRule } from './tables.ts';

/** Rows removed by one transaction, without those that go with them. */
const BATCH = 1000;
/** Time after which a call that was admitted before the company was refused has begun its transaction. */
const ADMITTED = `interval '6 seconds'`;
const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

export interface Removing extends ErasureOptions {
  readonly own: readonly TableRule[];
  /** By company, the number of the rule at which this process continues. */
  readonly at: Map<string, number>;
}

/** Removes the next rows of each company that is being deleted. Returns false if nothing can be removed at the moment. */
export async function removeNext(removing: Removing): Promise<boolean> {
  const { database } = removing;
  const { rows } = await database.query<{ id: string }>({
    name: 'companies_to_erase',
    text: 'select id from erased_companies where id is not null order by begun_at',
  });
  let more = false;
  for (const { id: companyId } of rows) {
    if (await database.transaction((tx) => removeOf(tx, removing, companyId), { retryContention: true })) more = true;
  }
  return more;
}

async function removeOf(tx: Transaction, removing: Removing, companyId: string): Promise<boolean> {
  const { rows } = await tx.query<{ closed: boolean }>({
    name: 'hold_company_to_erase',
    text: 'select closed_at is not null as closed from erased_companies where id = $1 for no key update skip locked',
    values: [companyId],
  });
  if (rows[0] === undefined) return false;
  if (!rows[0].closed) {
    await tx.query({ text: 'update erased_companies set closed_at = clock_timestamp() where id = $1', values: [companyId] });
    return true;
  }
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
  return await end(tx, removing, companyId);
}

async function remove(tx: Transaction, { restored }: Removing, rule: TableRule, companyId: string, most: number): Promise<number> {
  const state = restored.states.find(({ table }) => table === rule.table);
  const { rows } = await tx.query<{ key: string | null; others: number }>(removal(rule, state, companyId, most));
  if (rows.length === 0) return 0;
  if (state !== undefined) {
    await append(
      tx,
      rows.map(({ key }) => ({ topic: state.topic.name, key: key as string, type: state.removed, companyId, payload: null })),
    );
  }
  await note(tx, companyId, rule.table, rows.length);
  if (rule.with !== undefined && rows[0]!.others > 0) await note(tx, companyId, rule.with.table, rows[0]!.others);
  return rows.length;
}

function removal({ table, where, with: other }: TableRule, state: PublishedState | undefined, companyId: string, most: number): Statement {
  const key = state === undefined ? 'null::text' : `concat_ws('/', ${Object.keys(state.key).join(', ')})`;
  const others = other === undefined ? '' : `, others as (delete from ${other.table} o using gone g where ${other.on} returning 1)`;
  const columns = other === undefined ? '' : `, ${other.key}`;
  return {
    text: `with gone as (
        delete from ${table} where (${where}) and ctid = any(array(select ctid from ${table} where ${where} limit ${most}))
        returning ${key} as event_key${columns})${others}
      select event_key as key, ${other === undefined ? '0' : '(select count(*) from others)'} as others from gone`,
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

/**
 * Nothing was found. Forgets the id, unless something may still arrive: from a transaction that began before the company was refused, or a call
 * that was admitted before. Returns false, because it is the last batch or must wait.
 */
async function end(tx: Transaction, { waitsFor = [] }: Removing, companyId: string): Promise<false> {
  const waits = ['select from outbox where company_id = $1::uuid', ...waitsFor].map((some) => `exists (${some})`).join(' or ');
  const { rows } = await tx.query<{ over: boolean }>({
    text: `select e.closed_at < now() - ${ADMITTED} and not (${waits}) and not exists (
        select from pg_stat_activity a where a.datname = current_database() and a.usename = current_user and a.pid <> pg_backend_pid()
          and a.xact_start <= e.closed_at) as over
      from erased_companies e where e.id = $1::uuid`,
    values: [companyId],
  });
  if (rows[0]?.over !== true) return false;
  await tx.query({
    text: `update catch_up set company_id = $2, after = '${LAST}' where company_id = $1`,
    values: [companyId, idBefore(companyId)],
  });
  await tx.query({ text: 'update erased_companies set id = null, ended_at = now() where id = $1', values: [companyId] });
  return false;
}

/** The greatest id below this one: a run that continues after all records of it continues with the company's successors. */
function idBefore(id: string): string {
  const hex = (BigInt(`0x${id.replaceAll('-', '')}`) - 1n).toString(16).padStart(32, '0');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
