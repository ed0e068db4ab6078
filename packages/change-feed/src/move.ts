// The part of a company's move to another database that keeps its cursors valid and its versions from decreasing (docs/adr/0027). Everything is
// done once for each schema. `source` and `target` are connections of the schemas' owner, outside transactions.
import { isLockTimeout, type Queryable } from '@truckroll/postgres';
import { pause } from '@truckroll/process';
import { SHIFT_COLUMNS, VERSIONS_OF_EPOCH, lowestOf, transactionsBy, type MaybeShift } from './moment.ts';

/** More versions than a database assigns while a company is copied out of it. Numbers have room for 9,000 times that. */
const AHEAD = 10 ** 12;
/** Time in ms for which a table's lock is waited for. The statements of others queue behind it. */
const LOCK_MS = 500;
const AGAIN_MS = 1000;

/** Why the company cannot be moved now. */
export class CannotMove extends Error {
  override readonly name = 'CannotMove';
}

interface MovedFeed {
  readonly source: Queryable;
  readonly target: Queryable;
  readonly schema: string;
  /** In lower case. */
  readonly companyId: string;
}

/**
 * To be called before the first row is copied, while the target has no row of the company. Decides what is added to the company's versions when
 * the target shows them, and makes triggers there that store what arrives under the versions that then show as in the source, and names without
 * the version of their event. They act on what is stored with `session_replication_role = replica`, as subscriptions do: the copy must do so
 * too, and without ON CONFLICT, at which they would act twice. Do not copy `shifts` and `change_compactions`.
 *
 * Deletions from `record_changes` find no row on the target, because its version is another one. What the source compacts during the move therefore stays there,
 * until the target compacts it: publish insertions only, and compare the row with the highest version of each kind and id.
 *
 * Repeating it changes nothing, until `arrive`. Returns what the triggers subtract from `change_version` and `record_changes.version`: to compare rows,
 * add it to the target's. Errors: CannotMove; the signal's, while a table is in use.
 */
export async function chooseShift(moved: MovedFeed, signal: AbortSignal): Promise<number> {
  const { source, target, schema, companyId } = moved;
  for (const [db, where] of [
    [source, 'source'],
    [target, 'target'],
  ] as const) {
    const kinds = await feedInPreparation(db, schema);
    if (kinds.length > 0) throw new CannotMove(`the feed of ${kinds.join(', ')} in ${schema} of the ${where} is still being prepared`);
  }
  const [here, there] = [await stateOf(source, moved), await stateOf(target, moved)];
  const from = here.next + AHEAD;
  if (from > Number.MAX_SAFE_INTEGER - VERSIONS_OF_EPOCH)
    throw new CannotMove('the company has used up the versions of its change feed: it cannot be moved again');
  // A row of a company that has arrived is from an earlier stay.
  const { rows } = await target.query<{ added: number }>({
    text: `insert into ${schema}.shifts as h (company_id, added, lowest, shared_from, arrived_epoch, epochs) values ($1, $2, $3, $4, null, $5)
      on conflict (company_id) do update set
        added = case when h.arrived_epoch is null then h.added else excluded.added end,
        shared_from = case when h.arrived_epoch is null then h.shared_from else excluded.shared_from end,
        lowest = excluded.lowest, arrived_epoch = null, epochs = excluded.epochs
      returning added`,
    values: [companyId, from - there.stored, here.lowest, from, here.epoch - there.storedEpoch],
  });
  const subtracted = rows[0]!.added - here.added;
  for (const { table, key, work } of await tablesOf(target, schema)) {
    await untilFree(signal, () => target.query({ text: makingTrigger(schema, table, companyId, `new.${key}`, `${work}('${subtracted}')`) }));
  }
  return subtracted;
}

/**
 * To be called when the source is frozen and all its rows have arrived, before the target is read. Cursors that the source has issued are valid
 * there from then on, and a restore of the source until now is taken into account. Repeating it changes nothing. Errors: CannotMove if the target would
 * show lower versions than the source: `leave` the target, delete the copied rows and choose again.
 */
export async function arrive(moved: MovedFeed): Promise<void> {
  const { source, target, schema, companyId } = moved;
  const [here, there] = [await stateOf(source, moved), await stateOf(target, moved)];
  if (there.shift === null) throw new CannotMove(`the versions of the company ${companyId} in ${schema} were not chosen`);
  if (there.below < here.next)
    throw new CannotMove(`the source has assigned too many versions since those of the company ${companyId} in ${schema} were chosen`);
  await target.query({
    text: `update ${schema}.shifts set lowest = $2, arrived_epoch = $3, epochs = $4 where company_id = $1`,
    values: [companyId, here.lowest, there.storedEpoch, here.epoch - there.storedEpoch],
  });
}

/** To be called on the target when nothing arrives any more: removes the triggers. Repeating it changes nothing. Errors: the signal's, while a table is in use. */
export async function endArrival({ target, schema, companyId }: Omit<MovedFeed, 'source'>, signal: AbortSignal): Promise<void> {
  const { rows } = await target.query<{ table: string }>({
    text: `select c.relname::text as table from pg_trigger t join pg_class c on c.oid = t.tgrelid
      where c.relnamespace = $1::regnamespace and not c.relispartition and t.tgname = $2 order by 1`,
    values: [schema, triggerOf(companyId)],
  });
  for (const { table } of rows) {
    await untilFree(signal, () => target.query({ text: withLock(`drop trigger if exists "${triggerOf(companyId)}" on ${schema}.${table}`) }));
  }
}

/**
 * Forgets how the company's versions are shown, in the database that it has left, or in the target of a move that is given up: after its rows
 * there are deleted. Removes the triggers as `endArrival` does. The deletion of a company does this by itself.
 */
export async function leave(left: Omit<MovedFeed, 'source'>, signal: AbortSignal): Promise<void> {
  await endArrival(left, signal);
  await left.target.query({ text: `delete from ${left.schema}.shifts where company_id = $1`, values: [left.companyId] });
}

/** The kinds whose records of before the feed are not in the log yet: they would be missing from the feed of the target. */
export async function feedInPreparation(db: Queryable, schema: string): Promise<string[]> {
  const { rows } = await db.query<{ subject: string }>({
    text: `select subject from ${schema}.catch_up where task = 'feed' and not complete order by 1`,
  });
  return rows.map(({ subject }) => subject);
}

interface State {
  readonly shift: number | null;
  readonly added: number;
  readonly storedEpoch: number;
  /** No transaction so far stores a higher version. */
  readonly stored: number;
  /** Epoch and versions that the company is shown. */
  readonly epoch: number;
  readonly lowest: number;
  readonly below: number;
  readonly next: number;
}

async function stateOf(db: Queryable, { schema, companyId }: MovedFeed): Promise<State> {
  const { rows } = await db.query<MaybeShift & { epoch: number; oldest: number; next: number }>({
    text: `select ${transactionsBy(`${schema}.outbox_id_seq`)}, ${SHIFT_COLUMNS}
      from pg_current_snapshot() s left join ${schema}.shifts h on h.company_id = $1`,
    values: [companyId],
  });
  const row = rows[0]!;
  const added = row.added ?? 0;
  const first = row.epoch * VERSIONS_OF_EPOCH;
  return {
    shift: row.added,
    added,
    storedEpoch: row.epoch,
    stored: first + row.next,
    epoch: row.epoch + (row.added === null ? 0 : row.epochs),
    lowest: lowestOf(row.epoch, row),
    below: first + row.oldest + added,
    next: first + row.next + added,
  };
}

interface Shifted {
  readonly table: string;
  readonly key: string;
  /** The function of the trigger. */
  readonly work: string;
}

/** Tables with versions. */
async function tablesOf(db: Queryable, schema: string): Promise<Shifted[]> {
  const { rows } = await db.query<Shifted>({
    text: `select c.relname::text as table, case when c.relname = 'companies' then 'id' else 'company_id' end as key,
        $1 || case when c.relname = 'record_changes' then '.shift_change' when c.relname = 'names' then '.forget_version' else '.shift_record' end as work
      from pg_class c where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and (c.relname in ('record_changes', 'names')
          or exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'change_version' and not a.attisdropped)) order by 1`,
    values: [schema],
  });
  return rows;
}

const triggerOf = (companyId: string): string => `arriving_${companyId}`;

function makingTrigger(schema: string, table: string, companyId: string, company: string, work: string): string {
  const [name, of] = [`"${triggerOf(companyId)}"`, `${schema}.${table}`];
  return withLock(`create or replace trigger ${name} before insert or update on ${of} for each row when (${company} = '${companyId}') execute function ${work};
    alter table ${of} enable replica trigger ${name}`);
}

/** As one statement, which is one transaction. */
const withLock = (statements: string): string => `do $do$ begin perform set_config('lock_timeout', '${LOCK_MS}', true); ${statements}; end $do$`;

/** Tries again until others leave the table to it. */
async function untilFree(signal: AbortSignal, work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    try {
      await work();
      return;
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      await pause(AGAIN_MS, signal);
    }
  }
}
