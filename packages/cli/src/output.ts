// Records as a table, as JSON lines or as CSV.
import { withoutFormula } from '@truckroll/contract/formula';
import { Option, type Command } from 'commander';
import type { ApiSession } from './session.ts';
import { Failure } from './terminal/failure.ts';
import { Dollars, table } from './terminal/table.ts';

export type JsonRecord = Readonly<Record<string, unknown>>;

export interface Shown {
  readonly fields?: readonly string[];
  readonly amounts: 'dollars' | 'cents';
}

export const amountsOption = (): Option =>
  new Option('--amounts <unit>', 'unit of money in tables and CSV; JSON has cents').choices(['dollars', 'cents']).default('dollars');

export function addOutput(command: Command): Command {
  return command.option('--fields <fields...>', 'only these fields, such as number or account.name').addOption(amountsOption());
}

/** The value at a path such as `account.name`. */
export function valueAt(record: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (typeof value === 'object' && value !== null ? (value as JsonRecord)[name] : undefined), record);
}

/** Prints rows one page after another. */
export interface Printer {
  page(rows: readonly JsonRecord[]): void;
  end(): void;
}

/** `columns` are shown in tables and `known` in CSV unless fields are chosen. Throws Failure for an unknown field. */
export function printerOf(session: ApiSession, { fields, amounts }: Shown, columns: readonly string[], known: readonly string[], empty: string): Printer {
  const chosen = fields?.flatMap((each) => each.split(',')).map((each) => (known.includes(each) ? each : within(each, known)));
  const dollars = amounts === 'dollars';
  if (session.json) {
    const line = (row: JsonRecord) => JSON.stringify(chosen === undefined ? row : Object.fromEntries(chosen.map((path) => [path, valueAt(row, path) ?? null])));
    return { page: (rows) => rows.forEach((row) => session.say(line(row))), end: () => undefined };
  }
  const paths = chosen ?? (session.csv ? known : columns);
  if (session.csv) {
    const csv = csvLines(paths, dollars);
    // With the first page: a call that fails has printed nothing.
    let heading = [csv.heading];
    return {
      page(rows) {
        for (const line of [...heading, ...rows.map((row) => csv.line(row))]) session.say(line);
        heading = [];
      },
      end: () => undefined,
    };
  }
  const all: JsonRecord[] = [];
  return {
    page: (rows) => void all.push(...rows),
    end: () =>
      session.say(
        table(
          all,
          Object.fromEntries(paths.map((path) => [headingOf(path, dollars), (row: JsonRecord) => cell(money(path, valueAt(row, path), dollars))])),
          empty,
        ),
      ),
  };
}

const headingOf = (path: string, dollars: boolean): string => (dollars ? path.replace(/_cents$/, '') : path);

/** Lines without their ends. */
export function csvLines(paths: readonly string[], dollars: boolean): { heading: string; line(row: JsonRecord): string } {
  return {
    heading: paths.map((path) => csvCell(headingOf(path, dollars))).join(','),
    line: (row) => paths.map((path) => csvCell(money(path, valueAt(row, path), dollars))).join(','),
  };
}

/** An object of the record, or the fields with this beginning. */
function within(path: string, known: readonly string[]): string {
  if (known.some((each) => each.startsWith(`${path}.`))) return path;
  const last = path.split('.').at(-1);
  const near = known.filter((each) => each.split('.').at(-1) === last);
  throw new Failure(`There is no field ${path}. ${near.length > 0 ? `Did you mean ${near.join(' or ')}?` : `There are ${known.join(', ')}.`}`);
}

function money(path: string, value: unknown, dollars: boolean): unknown {
  return dollars && path.endsWith('_cents') && typeof value === 'number' ? new Dollars(value) : value;
}

/** Times to the second: the rest is in CSV and JSON. */
function cell(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return value.replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+Z$/, '$1Z');
}

/** Text is quoted, and defused where a spreadsheet would take it for a formula (decisions §13 and §16). */
function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean' || value instanceof Dollars) return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `"${withoutFormula(text).replaceAll('"', '""')}"`;
}
