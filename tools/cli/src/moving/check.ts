// What is looked at before anything is copied: how much it is, and whether it can end well.
import { feedInPreparation } from '@truckroll/change-feed';
import { owners } from '@truckroll/contract';
import { CompanyAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { CellAdminServiceService } from '@truckroll/contract/gen/integrations/v1/cells';
import { FreezeServiceService } from '@truckroll/contract/gen/records/v1/freezes';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import { askAll } from '../leaving/services.ts';
import type { Cell } from './cells.ts';
import { problemsOfDeadLetters } from './dead-letters.ts';
import { problemsOfNames } from './places.ts';
import { cannotRead, trialFault } from './reading.ts';
import { named, problemsOfRights } from './rights.ts';
import { isArriving } from './state.ts';
import { sizeOf, tablesOf, tablesWith, type SizeOfRows } from './tables.ts';

export interface Plan {
  readonly tables: readonly (SizeOfRows & { readonly table: string })[];
  readonly rows: number;
  readonly bytes: number;
  /** Seconds of copying, of the pauses in it, and of comparing. The company works during them. */
  readonly seconds: number;
}

/** Bytes copied in a second, measured with records of 1 KB on two busy cores (docs/adr/0028). */
const BYTES_A_SECOND = 12e6;
/** A subscription finds a deleted row without a key by an index (docs/adr/0025). */
const NEEDED_VERSION = 160_000;
/** Age in seconds of a transaction for which the slot, or a change feed of the other cell, would wait. */
const OLD_SECONDS = 10;

/** Throws Failure that names everything that stands in the way. */
export async function check(from: Cell, to: Cell, companyId: string): Promise<Plan> {
  const problems = await problemsOf(from, to, companyId);
  if (problems.length > 0) throw new Failure(['The company cannot be moved, and nothing was changed:', ...problems].join('\n  '), EXIT.refused);
  const tables: (SizeOfRows & { table: string })[] = [];
  for (const table of await tablesOf(from.db)) tables.push({ table: table.name, ...(await sizeOf(from.db, table, companyId)) });
  const [rows, bytes] = [sum(tables.map((each) => each.rows)), sum(tables.map((each) => each.bytes))];
  return { tables: tables.filter((each) => each.rows > 0), rows, bytes, seconds: Math.ceil((3 * bytes) / BYTES_A_SECOND) };
}

async function problemsOf(from: Cell, to: Cell, companyId: string): Promise<string[]> {
  if (from.identity === to.identity) return [`Both addresses lead to the same database, or one server is a copy of the other: correct ${to.variable}.`];
  const { companies } = await from.session.client('integrations', CompanyAdminServiceService).listCompanies({ id: companyId });
  const [company] = companies;
  if (company === undefined) return [`There is no company ${companyId} here: see the ids with \`truckroll company list\`.`];
  if (company.frozen_at != null) return ['The company is frozen: unfreeze it first.'];
  for (const { db } of [from, to]) {
    const { rows } = await db.query<{ version: number }>({ text: `select current_setting('server_version_num')::int as version` });
    if (rows[0]!.version < NEEDED_VERSION) return ['A move needs PostgreSQL 16 or newer on both sides.'];
  }
  // Without them the rest cannot be looked at.
  const rights = await problemsOfRights(from, to);
  if (rights.length > 0) return rights;
  const fault = await trialFault(from, to, companyId);
  if (fault !== undefined) return [`${cannotRead(fault)}.`];
  const problems: string[] = [];
  for (const { session } of [from, to])
    await askAll(session, FreezeServiceService, 'move companies', (service) => service.getFreeze({ company_id: companyId }));
  if (await isArriving(from, companyId))
    return ['The move that brought the company here has not ended: run it again with --confirm first, in the cell that it left.'];
  problems.push(...(await problemsOfDeadLetters(from, companyId)));
  const { rows: moves } = await to.db.query<{ other: string }>({ text: 'select other from integrations.moves where company_id = $1', values: [companyId] });
  if (moves.some(({ other }) => other !== from.identity)) problems.push('The company is being moved already, between the other cell and a third one.');
  problems.push(...(await problemsOfNames({ from, to })), ...(await problemsOfVersions(from, to)));
  const tables = await tablesOf(from.db);
  const theirs = new Map((await tablesOf(to.db)).map((table) => [table.name, table.columns]));
  const differ = tables.filter(({ name, columns }) => theirs.get(name) !== columns).map(({ name }) => name);
  if (differ.length > 0 || theirs.size !== tables.length) {
    const what = differ.join(', ') || 'tables are missing here';
    return [...problems, `The schemas differ (${what}): bring both cells to the same release, and run \`truckroll migrate\`.`];
  }
  const inTheWay = await tablesWith(to.db, companyId);
  if (inTheWay.length > 0)
    problems.push(
      `The other cell has rows of the company in ${inTheWay.join(', ')}: end the earlier move with --confirm or --abort, or the deletion there. ` +
        'If it has kept them since `truckroll cells settle`, see "What a cell has kept" in docs/how-to/move-a-company.md.',
    );
  for (const cell of [from, to]) problems.push(...(await problemsOfFeed(cell)), ...(await problemsOfTransactions(cell)));
  return [...problems, ...(await problemsOfUsers(from, to, companyId)), ...(await problemsOfServers(from, to))];
}

/** A subject names one user of a cell, whatever the company. */
async function problemsOfUsers(from: Cell, to: Cell, companyId: string): Promise<string[]> {
  const { rows } = await from.db.query<{ subject: string }>({ text: 'select subject from integrations.users where company_id = $1', values: [companyId] });
  const same = 'select subject from integrations.users where company_id <> $1 and subject = any($2) limit 10';
  const taken = await to.db.query<{ subject: string }>({ text: same, values: [companyId, rows.map(({ subject }) => subject)] });
  const subjects = taken.rows.map(({ subject }) => subject).join(', ');
  return named([[subjects !== '', `In the other cell, other companies have users with the same subjects: ${subjects}. Change one of each.`]]);
}

export async function problemsOfVersions(from: Cell, to: Cell): Promise<string[]> {
  const [here, there] = await Promise.all([from, to].map(({ session }) => session.client('integrations', CellAdminServiceService).describeCell({})));
  return named([[here!.version !== there!.version, `This cell runs ${here!.version}, and the other one ${there!.version}: bring both to the same release.`]]);
}

export async function problemsOfTransactions({ title, db }: Cell, mostSeconds = OLD_SECONDS): Promise<string[]> {
  const { rows } = await db.query<{ what: string; seconds: number }>({
    text: `select what, extract(epoch from now() - began)::int as seconds from (
        select 'a transaction of the process ' || pid, xact_start from pg_stat_activity where backend_xid is not null
        union all select 'the prepared transaction ' || gid, prepared from pg_prepared_xacts
      ) open (what, began) where now() - began > make_interval(secs => $1) order by began limit 10`,
    values: [mostSeconds],
  });
  return rows.map(({ what, seconds }) => `In ${title}, ${what} is ${seconds} s old, and the move would wait for its end: end it.`);
}

async function problemsOfFeed({ title, db }: Cell): Promise<string[]> {
  const problems: string[] = [];
  for (const owner of owners) {
    const kinds = await feedInPreparation(db, owner);
    if (kinds.length > 0) problems.push(`In ${title}, ${owner} still prepares the change feed of ${kinds.join(', ')}: see \`truckroll catch-up\`.`);
  }
  return problems;
}

async function problemsOfServers(from: Cell, to: Cell): Promise<string[]> {
  const { rows } = await from.db.query<{ wal: string; slots: number; senders: number }>({
    text: `select current_setting('wal_level') as wal,
        current_setting('max_replication_slots')::int - (select count(*) from pg_replication_slots) as slots,
        current_setting('max_wal_senders')::int - (select count(*) from pg_stat_replication) as senders`,
  });
  const { rows: theirs } = await to.db.query<{ workers: number }>({
    text: `select current_setting('max_logical_replication_workers')::int - (select count(*) from pg_stat_subscription where pid is not null) as workers`,
  });
  const { wal, slots, senders } = rows[0]!;
  return named([
    [wal !== 'logical', `PostgreSQL here has wal_level = ${wal}: set it to logical, and restart it.`],
    [slots < 1, 'PostgreSQL here has no free replication slot: raise max_replication_slots.'],
    [senders < 2, 'PostgreSQL here has no two free WAL senders: raise max_wal_senders.'],
    [theirs[0]!.workers < 1, "The other cell's PostgreSQL has no free worker: raise max_logical_replication_workers."],
  ]);
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
