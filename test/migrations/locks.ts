// Finds the statements of a migration that would lock a table that may be large, using PostgreSQL's own parser.
import { isInSteps } from '@truckroll/postgres';
import { parseSync } from 'libpg-query';

type Node = Readonly<Record<string, any>>;

/** ALTER TABLE commands that only change the catalogue. */
const QUICK = new Set([
  'AT_ColumnDefault',
  'AT_DropColumn',
  'AT_DropConstraint',
  'AT_DropNotNull',
  'AT_ReplicaIdentity',
  'AT_ResetRelOptions',
  'AT_SetRelOptions',
  'AT_SetStatistics',
  'AT_SetStorage',
]);
/** Statements refused on existing tables, with the reason: what they block, or why they cannot be checked. */
const REFUSED: Readonly<Record<string, string>> = {
  ClusterStmt: 'CLUSTER locks the table while it is written anew',
  DoStmt: 'what a DO block runs cannot be checked: write the statements themselves',
  LockStmt: 'LOCK blocks others until the migration ends',
  RefreshMatViewStmt: 'REFRESH MATERIALIZED VIEW locks the view while it is computed',
  ReindexStmt: 'REINDEX locks the table: build another index in steps',
  TruncateStmt: 'TRUNCATE removes what a replica of the release before may still read',
  VacuumStmt: 'leave VACUUM to autovacuum',
};
/** Tables with a few rows, however large an installation is: work on them takes moments. */
const SMALL = new Set(['catch_up', 'change_backfills', 'publications']);
const CONCURRENTLY = 'build an index CONCURRENTLY, in steps';
const BATCHES = 'change rows in batches, in steps';
/** Functions that return the same value for all rows, so that a column with this default is added without rewriting the table. */
const STABLE = new Set(['now', 'transaction_timestamp', 'statement_timestamp', 'current_schema']);

/** Columns that a validated constraint guarantees to be not null, and constraints that will guarantee it once validated. */
export interface Known {
  readonly candidates: Map<string, string>;
  readonly notNull: Set<string>;
}

export const nothingKnown = (): Known => ({ candidates: new Map(), notNull: new Set() });

/** Why a migration would block others, one sentence per statement. Adds to `known` for later migrations. */
export function blockingStatements(sql: string, known: Known = nothingKnown()): string[] {
  const steps = isInSteps(sql);
  return statementsOf(sql).flatMap(([kind, node, fresh]) => (steps ? inSteps(kind, node, known) : inTransaction(kind, node, fresh, known)));
}

/** Existing tables that a migration changes in a transaction. It keeps the lock of each until its end, while it waits for the next. */
export function lockedTables(sql: string): string[] {
  if (isInSteps(sql)) return [];
  const locked = statementsOf(sql).flatMap(([kind, node, fresh]): string[] => {
    const dropped = kind === 'DropStmt' && node['removeType'] === 'OBJECT_TRIGGER' ? node['objects'][0].List.items.at(-2).String.sval : undefined;
    const table = ['AlterTableStmt', 'CreateTrigStmt'].includes(kind) ? node['relation'].relname : dropped;
    return table === undefined || fresh.has(table) || SMALL.has(table) ? [] : [table];
  });
  return [...new Set(locked)];
}

/** Kind and content of each statement, and the tables that the migration has made until then. */
function statementsOf(sql: string): [kind: string, node: Node, fresh: ReadonlySet<string>][] {
  const fresh = new Set<string>();
  return (parseSync(sql).stmts ?? []).map(({ stmt }: { stmt?: unknown }) => {
    const [[kind, node] = ['', {}]] = Object.entries(stmt as Node) as [string, Node][];
    if (kind === 'CreateStmt') fresh.add(node['relation'].relname);
    if (kind === 'CreateTableAsStmt') fresh.add(node['into'].rel.relname);
    return [kind, node, new Set(fresh)];
  });
}

function inSteps(kind: string, node: Node, known: Known): string[] {
  if (kind === 'IndexStmt') {
    if (node['concurrent'] !== true) return [CONCURRENTLY];
    return node['idxname'] === undefined || node['if_not_exists'] === true || node['relation'].schemaname !== undefined
      ? ['give an index a name, without a schema or IF NOT EXISTS: an invalid one is found by its name']
      : [];
  }
  if (kind === 'DropStmt') return node['concurrent'] === true && node['missing_ok'] === true ? [] : ['in steps, an index is dropped CONCURRENTLY IF EXISTS'];
  if (kind === 'AlterTableStmt' && node['cmds'].every((cmd: Node) => cmd['AlterTableCmd'].subtype === 'AT_ValidateConstraint')) {
    for (const cmd of node['cmds']) {
      const column = known.candidates.get(`${node['relation'].relname}/${cmd['AlterTableCmd'].name}`);
      if (column !== undefined) known.notNull.add(column);
    }
    return [];
  }
  if (['UpdateStmt', 'DeleteStmt', 'InsertStmt'].includes(kind)) return some(node, 'limitCount', () => true) ? [] : ['a change of rows in steps needs a LIMIT'];
  return ['steps build or drop indexes, validate constraints or change rows; put the rest into another migration'];
}

function inTransaction(kind: string, node: Node, fresh: ReadonlySet<string>, known: Known): string[] {
  const isThere = (relation: Node | undefined): boolean => relation !== undefined && !fresh.has(relation['relname']) && !SMALL.has(relation['relname']);
  if (kind === 'LockStmt' && !node['relations'].some((each: Node) => isThere(each['RangeVar']))) return [];
  const refused = REFUSED[kind];
  if (refused !== undefined) return [refused];
  if (kind === 'IndexStmt') return isThere(node['relation']) ? [CONCURRENTLY] : [];
  if (kind === 'AlterTableStmt' && isThere(node['relation']))
    return node['cmds'].flatMap(({ AlterTableCmd: cmd }: Node) => alteration(node['relation'].relname, cmd, known));
  const values = kind === 'InsertStmt' && node['selectStmt']?.SelectStmt?.valuesLists !== undefined;
  const changes = ['UpdateStmt', 'DeleteStmt', 'InsertStmt'];
  if (changes.includes(kind) && !values && isThere(node['relation'])) return [BATCHES];
  return changes.some((change) => some(node, change, (inner) => isThere(inner['relation']))) ? [BATCHES] : [];
}

function alteration(table: string, cmd: Node, known: Known): string[] {
  const { subtype, name } = cmd;
  if (QUICK.has(subtype)) return [];
  if (subtype === 'AT_AddColumn') return addition(cmd['def'].ColumnDef);
  if (subtype === 'AT_SetNotNull')
    return known.notNull.has(`${table}/${name}`) ? [] : [`SET NOT NULL reads all of ${table}: validate a check that ${name} is not null first, in steps`];
  if (subtype === 'AT_AddConstraint') {
    const constraint: Node = cmd['def'].Constraint;
    const column = constraint['raw_expr']?.NullTest?.arg?.ColumnRef?.fields?.[0]?.String?.sval;
    if (constraint['raw_expr']?.NullTest?.nulltesttype === 'IS_NOT_NULL') known.candidates.set(`${table}/${constraint['conname']}`, `${table}/${column}`);
    if (constraint['skip_validation'] === true || constraint['indexname'] !== undefined) return [];
    return [`a constraint on ${table} is added NOT VALID and validated in steps; a key USING an INDEX that was built in steps`];
  }
  if (subtype === 'AT_AlterColumnType') return [`a change of a column's type writes all of ${table} anew: add another column`];
  return [`ALTER TABLE ${table} ${subtype} may read or write all of it`];
}

function addition(column: Node): string[] {
  return (column['constraints'] ?? []).flatMap(({ Constraint: { contype, raw_expr } }: Node): string[] => {
    if (contype === 'CONSTR_NULL' || contype === 'CONSTR_NOTNULL') return [];
    if (contype !== 'CONSTR_DEFAULT') return [`column ${column['colname']} is added with a constraint that reads or writes all rows: ${contype}`];
    const varies = some(raw_expr, 'FuncCall', ({ funcname }) => !STABLE.has(funcname.at(-1).String.sval));
    return varies ? [`the default of column ${column['colname']} differs between rows, so all are written: fill it in batches, in steps`] : [];
  });
}

function some(within: unknown, name: string, is: (node: Node) => boolean): boolean {
  if (typeof within !== 'object' || within === null) return false;
  return Object.entries(within).some(([key, value]) => (key === name && is(value as Node)) || some(value, name, is));
}
