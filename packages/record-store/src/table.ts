// How a record is stored: its table, and which of its facts have columns in addition to the document (docs/adr/0001).
import { entriesOf, foldedNumber, formatInstant } from '@truckroll/contract';
import type { Field, Filter, Findable, JsonProblem, Parameter, RecordOwner, Resource, ResourceOf, TopicDefinition } from '@truckroll/contract';
import type { Queryable, Transaction } from '@truckroll/postgres';

export type SqlType = 'uuid' | 'text' | 'date' | 'timestamptz' | 'bigint' | 'integer' | 'double precision' | 'boolean';

/** Paths to a record's scalars that a column can hold: `status`, `account.id`. */
export type ScalarPath<R> = {
  [K in keyof R & string]-?: NonNullable<R[K]> extends readonly unknown[]
    ? never
    : NonNullable<R[K]> extends object
      ? `${K}.${Extract<keyof NonNullable<R[K]>, string>}`
      : K;
}[keyof R & string];

export interface Computed<R> {
  type: SqlType;
  of: (record: R) => string | number | boolean | null;
  /** Converts a filter's value to the column's representation. */
  asked?: (value: string) => string;
}

/** A record's number, by which a list finds it without regard to letter case. */
export const NUMBER: Computed<{ number?: string | null | undefined }> = {
  type: 'text',
  of: ({ number }) => (number == null ? null : foldedNumber(number)),
  asked: foldedNumber,
};

/**
 * The entries by which search, phone and email find a record (docs/adr/0020). Its row keeps them all in the column `search`; a table of
 * (company_id, value, [created_at,] id) has one row for each.
 */
export interface SearchEntries<R> {
  table: string;
  of: (record: R) => Findable;
}

/** A column that the owner's rules update in the transaction that changes its source: see `Maintains`. */
export interface Maintained<R> {
  type: SqlType;
  maintained: Maintains<R>;
}

/** Recomputes what other records contribute to these. Runs when these are stored or reprojected; the owner's rules run it when the others change. */
export type Maintains<R> = (tx: Transaction, companyId: string, records: readonly Changed<R>[]) => Promise<void>;

/**
 * A table of (company_id, value, [created_at,] id) that answers a filter on many values per record in the list's order. Its values come
 * from the record itself (`of`) or from other records (`maintained`). A link named `x` also answers the bounds x_from and x_before: a
 * record matches if one of its values meets both.
 */
export type Link<R> = {
  table: string;
  /** Type of the values. Default uuid. */
  type?: 'uuid' | 'text' | 'date';
} & (
  | { of: (record: R) => readonly string[]; maintained?: never }
  | { of?: never; maintained: Maintains<R> }
  // A view of other tables of the service, which nothing needs to keep.
  | { of?: never; maintained?: never; view: true }
);

/** A filter whose values depend on the company's settings. */
export interface Decided {
  /** The column that answers it. */
  column: string;
  /** The values of the column that match what the request asks for. */
  values: (db: Queryable, companyId: string, asked: unknown) => Promise<readonly string[]>;
}

/** Consequences of one import line or one write, in the transaction that stores it. */
export type AfterChange<R> = (tx: Transaction, companyId: string, changed: readonly Changed<R>[]) => Promise<void>;

export interface Changed<R> {
  id: string;
  /** Includes the derived fields. */
  record: R;
  document: Uint8Array;
  derived?: Uint8Array;
  /** The record as reads return it, if already assembled. */
  shown?: Uint8Array;
  /** Previous values of the columns in `remembers`; absent for a new record. */
  before?: Readonly<Record<string, unknown>>;
}

type Fields<R> = [R] extends [never] ? object : Partial<R>;

export interface TableDefinition<R> {
  resource: Resource;
  /**
   * Version of everything below that is computed from documents: columns, links, derived fields, and for other services' read models what
   * is published. Raise it by one with every change to their results: rows of earlier versions are then reprojected (docs/adr/0005).
   * Default 1.
   */
  version?: number;
  /** Column or link → the version that introduced it, if not the first. While a company has older rows, its filter is answered with 503. */
  since?: Readonly<Record<string, number>>;
  table: string;
  /** Column name → source. Every filter of the contract needs a column or link. */
  columns: Record<string, ScalarPath<R> | Computed<R> | Maintained<R>>;
  links?: Record<string, Link<R>>;
  decided?: Readonly<Record<string, Decided>>;
  /** Bound → the column that it compares, and values that other columns must have. */
  bounded?: Readonly<Record<string, { column: string; only: Readonly<Record<string, string>> }>>;
  search?: SearchEntries<R>;
  /** Rules between fields, in addition to the contract's rules for each field. */
  check?: (record: R) => JsonProblem[];
  /** Errors: RecordError if a line, with its derived fields, could not be shown. Runs for imports, not for refreshes. */
  checkShown?: (record: R) => void;
  /** The field through which a line contributes to another record, by that record's id. Named in the error if the other record overflows. */
  leadsTo?: (record: R, id: string) => string | undefined;
  /** Fields taken only from the derived part of a record that has one, and null if it lacks them. The document's values are used until then. */
  derivedFields?: readonly (keyof R & string)[];
  /**
   * Derived fields by id, which columns can use too; none for a record that is read as its document says. Called before a batch is stored
   * and by refreshRecords, with the records' rows locked.
   */
  derive?: (tx: Transaction, companyId: string, batch: readonly Changed<R>[]) => Promise<ReadonlyMap<string, Fields<R>>>;
  /** Takes locks that other transactions take before the records themselves, to avoid deadlocks. Runs before a batch's own rows are locked or written. */
  lockFirst?: (tx: Transaction, companyId: string, batch: readonly Changed<R>[]) => Promise<void>;
  /** Columns whose previous values afterChange needs in order to update what a record used to affect. */
  remembers?: readonly string[];
  /** The records are the same in every company and stored once: see EVERY_COMPANY. */
  everyCompany?: boolean;
  /** Names, and what other records derive from these: runs once for all records of a batch that changed. */
  afterChange?: AfterChange<R>;
  /** Publishes records as reads return them, whenever one is stored or one of its derived fields changes. */
  publishes?: { topic: TopicDefinition; type: string };
  /**
   * Fields that depend on the time of reading: encoded, in field order, from the raw values of these columns, which are numbered from 0, and
   * the IANA name of the company's time zone.
   */
  onRead?: { columns: readonly string[]; fragment: (column: (index: number) => Buffer | null, timeZone: string) => Uint8Array | undefined };
}

export interface Column {
  name: string;
  type: SqlType;
  /** Absent for maintained columns. Returns a value for arrayOf. */
  of?: (record: never) => unknown;
  /** Converts a filter's value from the generated request to the column's representation. */
  fromRequest: (value: unknown) => unknown;
}

export interface Table<R = never> extends Omit<TableDefinition<R>, 'columns' | 'links' | 'version'> {
  path: string;
  version: number;
  columns: readonly Column[];
  links: Record<string, Link<R>>;
  maintained: readonly Maintains<R>[];
  /** Columns of the list's fixed order. */
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

/** Checks a definition against the contract. Errors: a filter without a column or link, a path the record does not have. */
export function defineTable<R>(definition: TableDefinition<R>): Table<R> {
  const { resource } = definition;
  const sources = { ...definition.columns, ...(definition.search && { [SEARCH]: entriesColumn(definition.search) }) };
  const columns = [...standardColumns(resource), ...Object.entries(sources).map(([name, source]) => columnOf(resource, name, source))];
  const links = definition.links ?? {};
  const table: Table<R> = {
    ...definition,
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
      throw new Error(`${resource.path}: since names ${name}, which is not a column or link`);
  }
  for (const parameter of resource.list.parameters) {
    if (parameter.filter === undefined || linkFor(table, parameter.name) !== undefined) continue;
    const { filter, field } = parameter;
    const columns =
      filter.comparison === 'missing'
        ? [...(field.enum?.spellings.values() ?? [])].map((name) => referenceColumn(table, name))
        : [filterColumn(table, parameter)];
    if (columns.includes(undefined)) throw new Error(`${resource.path}: no column or link answers the filter ${parameter.name}`);
  }
  return table;
}

/** The column that answers a filter. */
export function filterColumn(table: Pick<Table, 'columns' | 'decided' | 'bounded'>, { name, filter }: Parameter): Column | undefined {
  return isSearched(filter) ? table.columns.find((column) => column.name === SEARCH) : columnFor(table, name, filter?.field ?? '');
}

/** Whether the entries of a record's search answer the filter. */
export function isSearched(filter: Filter | undefined): boolean {
  return filter?.comparison === 'search' || filter?.comparison === 'phone' || filter?.comparison === 'email';
}

/** The column for a filter: the decided or bounded one, or named after the field's path, or after the parameter itself. */
export function columnFor(table: Pick<Table, 'columns' | 'decided' | 'bounded'>, parameter: string, field: string): Column | undefined {
  const named = table.decided?.[parameter] ?? table.bounded?.[parameter];
  const name = named?.column ?? (field === '' ? parameter : field.replaceAll('.', '_'));
  return table.columns.find((column) => column.name === name);
}

/** The column of a field that refers to another record: `business_unit_id` for `business_unit`. */
export function referenceColumn({ columns }: Pick<Table, 'columns'>, field: string): Column | undefined {
  return columns.find(({ name }) => name === field || name === `${field}_id`);
}

/** The link for a filter: named after the parameter, with or without _from or _before. */
export function linkFor(table: Pick<Table, 'links'>, parameter: string): Link<never> | undefined {
  return table.links[parameter] ?? table.links[parameter.replace(/_(from|before)$/, '')];
}

/** All tables of a service by path; the compiler requires each record's table. `consequences` run after the table's own afterChange. */
export function registered<O extends RecordOwner>(
  owner: O,
  tables: Record<ResourceOf<O>, Table>,
  consequences: { readonly [path in ResourceOf<O>]?: AfterChange<never> } = {},
): readonly Table[] {
  return Object.entries<Table>(tables).map(([key, table]) => {
    if (table.path !== key || table.resource.owner !== owner) throw new Error(`${owner}: the table of ${table.path} is registered as ${key}`);
    const consequence = consequences[key as ResourceOf<O>];
    if (consequence === undefined) return table;
    const afterChange: AfterChange<never> = async (...change) => {
      await table.afterChange?.(...change);
      await consequence(...change);
    };
    return { ...table, afterChange };
  });
}

/** A record's id as its column holds it: codes have their public spelling. */
export function idOf<R>(table: Pick<Table<R>, 'columns'>, record: R): string {
  return table.columns.find((column) => column.name === 'id')?.of?.(record as never) as string;
}

/** The company id under which records are stored that are the same in every company. */
export const EVERY_COMPANY = '00000000-0000-0000-0000-000000000000';

/** The company_id of the rows that this company reads. */
export function storedUnder(table: Pick<Table, 'everyCompany'>, companyId: string): string {
  return table.everyCompany === true ? EVERY_COMPANY : companyId;
}

function standardColumns(resource: Resource): Column[] {
  return ['id', 'created_at', 'updated_at'].filter((name) => resource.record.byName.has(name)).map((name) => columnOf(resource, name, name));
}

function columnOf<R>(resource: Resource, name: string, source: string | Computed<R> | Maintained<R>): Column {
  if (typeof source !== 'string') {
    const { type } = source;
    const asked = 'of' in source ? (source.asked as Column['fromRequest'] | undefined) : undefined;
    const plain = { name, type, fromRequest: asked ?? fromRequest(type) };
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
    return compared(type, value);
  };
  return { name, type, of: read, fromRequest: spelling ? (value) => spelling.get(value as string) : fromRequest(type) };
}

/** A column's value for a record, as a single parameter rather than in an array. */
export function valueOf<R>({ type, of }: Column, record: R): unknown {
  const value = of?.(record as never);
  return value == null ? null : toSql(type, value);
}

function toSql(type: SqlType, value: unknown): unknown {
  return type === 'timestamptz' ? formatInstant(value as number) : value;
}

function fromRequest(type: SqlType): (value: unknown) => unknown {
  return (value) => compared(type, toSql(type, value));
}

/** Text filters compare NFC (decisions §17). */
function compared(type: SqlType, value: unknown): unknown {
  return type === 'text' && typeof value === 'string' ? value.normalize('NFC') : value;
}

/** The column of everything that finds a record: each entry between two line breaks. */
export const SEARCH = 'search';

function entriesColumn<R>({ of }: SearchEntries<R>): Computed<R> {
  // Both the row and its entries need them.
  const known = new WeakMap<object, string>();
  return {
    type: 'text',
    of: (record) => {
      let text = known.get(record as object);
      if (text === undefined)
        known.set(
          record as object,
          (text = `\n${entriesOf(of(record))
            .map((entry) => `${entry}\n`)
            .join('')}`),
        );
      return text;
    },
  };
}
