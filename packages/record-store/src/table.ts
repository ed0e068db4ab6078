// Where a record lives: its table, and which of its facts are columns beside the stored document (docs/adr/0001).
import { formatInstant } from '@truckroll/contract';
import type { Field, JsonProblem, RecordOwner, Resource, ResourceOf, TopicDefinition } from '@truckroll/contract';
import type { Transaction } from '@truckroll/service-kit';

/** What a reading depends on besides what is stored. */
export interface ReadContext {
  companyId: string;
  /** IANA name of the company's time zone. */
  timeZone: string;
}

/** PostgreSQL types that columns have. */
export type SqlType = 'uuid' | 'text' | 'date' | 'timestamptz' | 'bigint' | 'integer' | 'double precision' | 'boolean';

/** Paths to a record's scalars that a column can hold: `status`, `account.id`. */
export type ScalarPath<R> = {
  [K in keyof R & string]-?: NonNullable<R[K]> extends readonly unknown[]
    ? never
    : NonNullable<R[K]> extends object
      ? `${K}.${Extract<keyof NonNullable<R[K]>, string>}`
      : K;
}[keyof R & string];

/** A column computed from the record where it is written. */
export interface Computed<R> {
  type: SqlType;
  of: (record: R) => string | number | boolean | null;
}

/** A column that the owner's rules keep in the transaction that changes what it follows: see `Maintains`. */
export interface Maintained<R> {
  type: SqlType;
  maintained: Maintains<R>;
}

/**
 * Puts right what other records say of these records: runs whenever they are stored or projected anew. The owner's
 * rules also run it for the records that a change of those others leads to.
 */
export type Maintains<R> = (tx: Transaction, companyId: string, records: readonly Changed<R>[]) => Promise<void>;

/**
 * A table of (company_id, value, [created_at,] id) that answers a filter on many values per record in the list's order.
 * Its values are the record's own (`of`), or what others say of it (`maintained`). Named `x`, it also answers the bounds x_from and x_before: a record
 * matches when one of its values meets both.
 */
export type Link<R> = {
  table: string;
  /** Type of the values. Default uuid. */
  type?: 'uuid' | 'text' | 'date';
} & ({ of: (record: R) => readonly string[]; maintained?: never } | { of?: never; maintained: Maintains<R> });

/** What one line of an import or one write leads to, in the transaction that stores it. */
export type AfterChange<R> = (tx: Transaction, companyId: string, changed: readonly Changed<R>[]) => Promise<void>;

/** Several consequences, one after the other. */
function inTurn<R>(...steps: readonly AfterChange<R>[]): AfterChange<R> {
  return async (tx, companyId, changed) => {
    for (const step of steps) await step(tx, companyId, changed);
  };
}

export interface Changed<R> {
  id: string;
  /** With its derived fields, where `derive` tells them as fields. */
  record: R;
  document: Uint8Array;
  derived?: Uint8Array;
  /** As it is read, where that is known already. */
  shown?: Uint8Array;
  /** What the remembered columns held until now; absent for a new record. */
  before?: Readonly<Record<string, unknown>>;
}

/** Some fields of a record; of any record where it is not known which. */
type Fields<R> = [R] extends [never] ? object : Partial<R>;

export interface TableDefinition<R> {
  resource: Resource;
  /**
   * Of everything below that follows from documents: columns, links, what is derived, and for a read model elsewhere what is
   * published. Raise it by one with every change of what any of them comes to: rows of earlier versions are then
   * projected anew (docs/adr/0005). Default 1.
   */
  version?: number;
  /**
   * Column or link → the version that it came with, where that is not the first: while a company has rows from before,
   * its filter is answered with 503.
   */
  since?: Readonly<Record<string, number>>;
  /** Name inside the owner's schema. */
  table: string;
  /** Column name → where it comes from. Every filter of the contract needs the column or link that it looks at. */
  columns: Record<string, ScalarPath<R> | Computed<R> | Maintained<R>>;
  /** Query parameter → link table. */
  links?: Record<string, Link<R>>;
  /** Rules between fields that a line must obey, beyond what the contract says of each. */
  check?: (record: R) => JsonProblem[];
  /** Errors: RecordError where a line, with its derived fields, could not be shown. Runs for imports, not for refreshes. */
  checkShown?: (record: R) => void;
  /** The field by which a line leads to what another record shows, by that record's id: named where it goes too far. */
  leadsTo?: (record: R, id: string) => string | undefined;
  /**
   * Fields whose value in the document only stands in until the owner's arrives: where there is a derived part they
   * come from it, and are null where it lacks them.
   */
  derivedFields?: readonly (keyof R & string)[];
  /**
   * Derived fields by id, encoded or as they are, before a batch is stored and whenever refreshRecords asks again. The
   * records' own rows are locked by then. Fields told as they are also reach the columns that look at them.
   */
  derive?: (tx: Transaction, companyId: string, batch: readonly Changed<R>[]) => Promise<ReadonlyMap<string, Uint8Array | Fields<R>>>;
  /**
   * Locks what others lock before the records themselves, so that nobody waits in a circle: runs before a batch's own
   * rows are locked or written.
   */
  lockFirst?: (tx: Transaction, companyId: string, batch: readonly Changed<R>[]) => Promise<void>;
  /** Columns whose former values afterChange is told, where it must also mend what a record used to lead to. */
  remembers?: readonly string[];
  /** The records are the same in every company, stored once: see EVERY_COMPANY. */
  everyCompany?: boolean;
  /** Names, and what other records derive from these: runs once for all records that a batch really changed. */
  afterChange?: AfterChange<R>;
  /** Where records are published as they are read, whenever one is stored or a derived field of it changes. */
  publishes?: { topic: TopicDefinition; type: string };
  /** Fields that depend on the moment of reading: encoded, in order, from the raw values of these columns, which are numbered from 0. */
  onRead?: { columns: readonly string[]; fragment: (column: (index: number) => Buffer | null, context: ReadContext) => Uint8Array | undefined };
}

export interface Column {
  name: string;
  type: SqlType;
  /** Absent for maintained columns. As arrayOf takes it. */
  of?: (record: never) => unknown;
  /** Turns a filter's value, as the generated request holds it, into the column's. */
  fromRequest: (value: unknown) => unknown;
}

export interface Table<R = never> extends Omit<TableDefinition<R>, 'columns' | 'links' | 'version'> {
  schema: string;
  /** Public path of its records. */
  path: string;
  version: number;
  columns: readonly Column[];
  links: Record<string, Link<R>>;
  /** What others say of the records, and who keeps it. */
  maintained: readonly Maintains<R>[];
  /** Columns of the fixed order. */
  order: readonly string[];
}

const SQL_TYPES: Partial<Record<Field['kind'], SqlType>> = {
  uuid: 'uuid',
  string: 'text',
  enum: 'text',
  date: 'date',
  timestamp: 'timestamptz',
  cents: 'bigint',
  integer: 'integer',
  number: 'double precision',
  boolean: 'boolean',
};

/** Ties a definition to the contract. Errors: a filter that nothing answers, a path the record does not have. */
export function defineTable<R>(definition: TableDefinition<R>): Table<R> {
  const { resource } = definition;
  const columns = [...standardColumns(resource), ...Object.entries(definition.columns).map(([name, source]) => columnOf(resource, name, source))];
  const links = definition.links ?? {};
  const table: Table<R> = {
    ...definition,
    schema: resource.owner,
    path: resource.path,
    version: definition.version ?? 1,
    columns,
    links,
    maintained: [...Object.values(definition.columns), ...Object.values(links)].flatMap((source) =>
      typeof source === 'object' && 'maintained' in source ? (source.maintained ?? []) : [],
    ),
    order: resource.order === 'created_at' ? ['created_at', 'id'] : ['id'],
  };
  for (const name of Object.keys(table.since ?? {})) {
    if (links[name] === undefined && !columns.some((column) => column.name === name))
      throw new Error(`${resource.path}: since names ${name}, which is no column or link`);
  }
  for (const parameter of resource.list.parameters) {
    if (parameter.filter === undefined || linkFor(table, parameter.name) !== undefined) continue;
    if (columnFor(table, parameter.name, parameter.filter.field) === undefined) {
      throw new Error(`${resource.path}: no column or link answers the filter ${parameter.name}`);
    }
  }
  return table;
}

/** The column that a filter looks at: named after the field's path, or after the parameter itself. */
export function columnFor(table: Pick<Table, 'columns'>, parameter: string, field: string): Column | undefined {
  const name = field === '' ? parameter : field.replaceAll('.', '_');
  return table.columns.find((column) => column.name === name);
}

/** The link that a filter looks at: named after the parameter, or after its range. */
export function linkFor(table: Pick<Table, 'links'>, parameter: string): Link<never> | undefined {
  return table.links[parameter] ?? table.links[parameter.replace(/_(from|before)$/, '')];
}

/**
 * The tables of every record that a service owns, by public path, and what follows for other records from changes of each,
 * after what its table says itself. A record of the contract without its table does not compile.
 */
export function registered<O extends RecordOwner>(
  owner: O,
  tables: Record<ResourceOf<O>, Table<any>>,
  consequences: { readonly [path in ResourceOf<O>]?: AfterChange<any> } = {},
): readonly Table[] {
  return Object.entries<Table<any>>(tables).map(([key, table]) => {
    if (table.path !== key || table.schema !== owner) throw new Error(`${owner}: the table of ${table.path} is registered as ${key}`);
    const consequence = consequences[key as ResourceOf<O>];
    return consequence === undefined
      ? table
      : { ...table, afterChange: table.afterChange === undefined ? consequence : inTurn(table.afterChange, consequence) };
  });
}

/** A record's id as its column holds it: codes are spelled as they are in public. */
export function idOf<R>(table: Pick<Table<R>, 'columns'>, record: R): string {
  return table.columns.find((column) => column.name === 'id')?.of?.(record as never) as string;
}

/** Under which company's name records stand that are the same in every company. */
export const EVERY_COMPANY = '00000000-0000-0000-0000-000000000000';

/** The company whose rows answer a request. */
export function storedUnder(table: Pick<Table, 'everyCompany'>, companyId: string): string {
  return table.everyCompany === true ? EVERY_COMPANY : companyId;
}

function standardColumns(resource: Resource): Column[] {
  return ['id', 'created_at', 'updated_at'].filter((name) => resource.record.byName.has(name)).map((name) => columnOf(resource, name, name));
}

function columnOf<R>(resource: Resource, name: string, source: string | Computed<R> | Maintained<R>): Column {
  if (typeof source !== 'string') {
    const { type } = source;
    const plain = { name, type, fromRequest: fromRequest(type) };
    return 'of' in source ? { ...plain, of: source.of as Column['of'] as (record: never) => unknown } : plain;
  }
  const [head, tail] = source.split('.') as [string, string | undefined];
  const outer = resource.record.byName.get(head);
  const field = tail === undefined ? outer : outer?.shape?.byName.get(tail);
  const type = field && SQL_TYPES[field.kind];
  if (field === undefined || type === undefined) throw new Error(`${resource.path}: ${source} cannot be a column`);
  const spelling = field.enum?.spellings;
  const read = (record: Record<string, unknown>): unknown => {
    const value = tail === undefined ? record[head] : (record[head] as Record<string, unknown> | null | undefined)?.[tail];
    if (value === null || value === undefined) return null;
    if (spelling !== undefined) return spelling.get(value as string) ?? null;
    return value;
  };
  return { name, type, of: read, fromRequest: spelling ? (value) => spelling.get(value as string) : fromRequest(type) };
}

/** What a column holds of a record, as a parameter of its own: not in an array. */
export function valueOf<R>({ type, of }: Column, record: R): unknown {
  const value = of?.(record as never);
  return value == null ? null : toSql(type, value);
}

/** Microseconds as PostgreSQL's own text; everything else passes as it is. */
function toSql(type: SqlType, value: unknown): unknown {
  return type === 'timestamptz' ? formatInstant(value as number) : value;
}

function fromRequest(type: SqlType): (value: unknown) => unknown {
  return (value) => toSql(type, value);
}
