// What replication does not carry: numbers of sequences, and notes of sums that are due. Each may be repeated.
import type { Cell } from './cells.ts';
import { tablesOf } from './tables.ts';

/** Others take numbers while one is set: it is set this far above those that are taken. */
const ROOM = 1000;

/** Looks up tables now, so that little is left to do in the pause: what it returns. It begins a transaction on the connection of `to`. */
export async function carryingOver(from: Cell, to: Cell, companyId: string): Promise<() => Promise<void>> {
  const text = await settingRowNumbers(to);
  return async () => {
    await to.db.query({ text, values: [companyId] });
    await copyNotes(from, to, companyId);
  };
}

/** SQL for keys with a number, such as that of webhook_replays: the next ones are above those that were copied (docs/adr/0025). */
async function settingRowNumbers(to: Cell): Promise<string> {
  const tables = new Map((await tablesOf(to.db)).map((table) => [table.name, table]));
  const { rows } = await to.db.query<{ name: string; column: string; sequence: string }>({
    text: `select t.name, quote_ident(a.attname) as column, pg_get_serial_sequence(t.name, a.attname) as sequence from unnest($1::text[]) t(name)
      join pg_attribute a on a.attrelid = t.name::regclass and a.attnum > 0 and not a.attisdropped
      where pg_get_serial_sequence(t.name, a.attname) is not null`,
    values: [[...tables.keys()]],
  });
  const settings = rows.map(
    ({ name, column, sequence }) => `select setval('${sequence}', m.highest + ${ROOM})
      from (select max(${column}) as highest from ${name} where ${tables.get(name)!.key} = $1) m where m.highest >= (select last_value from ${sequence})`,
  );
  return settings.join(' union all ');
}

/** The sums were copied with what they lack, which triggers of the source have noted. None has acted in the other cell. */
async function copyNotes(from: Cell, to: Cell, companyId: string): Promise<void> {
  const { rows } = await from.db.query<{ note: string }>({
    text: 'select n::text as note from reporting.due_notes n where company_id = $1',
    values: [companyId],
  });
  const { db } = to;
  await db.query({ text: 'begin' });
  try {
    // As `asReplica` does, without another connection, for which the company would wait.
    await db.query({ text: 'set local session_replication_role = replica' });
    await db.query({ text: 'delete from reporting.due_notes where company_id = $1', values: [companyId] });
    await db.query({ text: 'insert into reporting.due_notes select * from unnest($1::reporting.due_notes[])', values: [rows.map(({ note }) => note)] });
    await db.query({ text: 'commit' });
  } catch (error) {
    await db.query({ text: 'rollback' }).catch(() => undefined);
    throw error;
  }
}
