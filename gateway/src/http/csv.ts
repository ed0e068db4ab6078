// Writes the rows of a report as CSV (RFC 4180) for spreadsheets. The first line has the names of the JSON keys (decisions §13).
import { codec, formatInstant, type EnumShape, type Field, type Operation, type Shape } from '@truckroll/contract';
import { withoutFormula } from '@truckroll/contract/formula';

/**
 * Parameters of CSV answers with their values, the default first. `amounts` is how amounts of money are written (decisions §16); `bom` is
 * whether a byte order mark comes first, by which Excel knows UTF-8 (§17).
 */
export const CSV_PARAMETERS = { amounts: ['cents', 'decimal'], bom: ['false', 'true'] } as const;
export type CsvParameter = keyof typeof CSV_PARAMETERS;
export type CsvForm = { [P in CsvParameter]?: (typeof CSV_PARAMETERS)[P][number] };
type CsvAmounts = (typeof CSV_PARAMETERS)['amounts'][number];

export const CSV_TYPE = 'text/csv; charset=utf-8; header=present';

export interface CsvPage {
  body: Buffer;
  /** Position at which the next page starts; empty on the last page. */
  next: Uint8Array;
}

type Row = Record<string, unknown>;

interface Column {
  name: string;
  cell(row: Row): string;
}

/** Writes amounts as integer cents, or as decimal dollars in columns whose names lack `_cents`. */
export function compileCsv(operation: Operation): (bytes: Uint8Array, form?: CsvForm) => CsvPage {
  const { decode } = codec(operation.response.typeName);
  const forms = { cents: columnsOf(rowsOf(operation), 'cents'), decimal: columnsOf(rowsOf(operation), 'decimal') };
  return (bytes, { amounts = 'cents', bom } = {}) => {
    const { data, next } = decode(bytes) as { data: Row[]; next: Uint8Array };
    const columns = forms[amounts];
    const header = columns.map(({ name }) => name).join();
    const lines = data.map((row) => columns.map(({ cell }) => cell(row)).join());
    return { body: Buffer.from(`${bom === 'true' ? '\uFEFF' : ''}${[header, ...lines].join('\r\n')}\r\n`), next };
  };
}

/** The column names. Each field of an object has its own column, such as `group_value`. */
export function csvColumns(operation: Operation): string[] {
  return columnsOf(rowsOf(operation), 'cents').map(({ name }) => name);
}

function rowsOf({ response }: Operation): Shape {
  return (response.byName.get('data') as Field).shape as Shape;
}

function columnsOf({ fields }: Shape, amounts: CsvAmounts): Column[] {
  return fields.flatMap((field): Column[] => {
    const { name } = field;
    if (field.kind === 'object' && !field.repeated) {
      return columnsOf(field.shape as Shape, amounts).map((inner) => ({
        name: `${name}_${inner.name}`,
        cell: (row) => (row[name] == null ? '' : inner.cell(row[name] as Row)),
      }));
    }
    const decimal = field.kind === 'cents' && amounts === 'decimal';
    const text = decimal ? dollars : textOf(field);
    return [{ name: decimal ? name.replace(/_cents$/, '') : name, cell: (row) => (row[name] == null ? '' : text(row[name])) }];
  });
}

function textOf(field: Field): (value: unknown) => string {
  if (field.repeated) throw new Error(`${field.name} has several values, a cell of a spreadsheet has one`);
  switch (field.kind) {
    case 'string':
      return (value) => quoted(withoutFormula(String(value)));
    case 'enum':
      return (value) => quoted((field.enum as EnumShape).spellings.get(String(value)) ?? '');
    case 'timestamp':
      return (value) => formatInstant(value as number);
    case 'uuid':
      return (value) => quoted(String(value));
    case 'date':
    case 'cents':
    case 'integer':
    case 'number':
    case 'boolean':
      return String;
    default:
      throw new Error(`${field.name} is no cell of a spreadsheet`);
  }
}

/** Cents as dollars, "-12.05" of -1205. Exact: digits are moved, never divided. */
export function dollars(cents: unknown): string {
  const digits = String(Math.abs(cents as number)).padStart(3, '0');
  return `${(cents as number) < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Text is always quoted: some locales separate cells with a semicolon, which would split an unquoted text. */
function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
