// A filter as the rows of a form, and back.
import type { EventFilter } from '../api/types.ts';
import type { Detail } from '../api/problem.ts';
import { instantOf, localMoment } from '../parts/time.tsx';
import { apiName, needsNoValue, takesList, type Kind, type Paths } from './paths.ts';

/** One path with one operator. */
export interface Row {
  readonly key: number;
  readonly path: string;
  /** One of Operator, or one that only a newer release knows. */
  readonly operator: string;
  /** As typed; a list has one value per line. */
  readonly text: string;
  /** The stored value, as long as the row is not edited: a text may have less precision. */
  readonly stored?: unknown;
}

export function rowsOf(filter: EventFilter | null, paths: Paths): Row[] {
  const conditions = Object.entries(filter ?? {}).flatMap(([path, operators]) => Object.entries(operators).map(([name, value]) => ({ path, name, value })));
  return conditions.map(({ path, name, value }, key) => {
    const operator = name !== '$exists' ? name : value === true ? 'present' : 'absent';
    return {
      key,
      path,
      operator,
      text: [value]
        .flat()
        .map(textOf(paths.get(path)))
        .join('\n'),
      stored: value,
    };
  });
}

const textOf =
  (kind: Kind | undefined) =>
  (value: unknown): string =>
    kind === 'time' && !Number.isNaN(Date.parse(String(value))) ? localMoment(new Date(String(value))) : String(value);

/** The filter that the rows are; null if no row names a path. */
export function filterOf(rows: readonly Row[], paths: Paths): EventFilter | null {
  const filter: Record<string, Record<string, unknown>> = {};
  for (const row of rows) {
    if (row.path !== '') filter[row.path] = { ...filter[row.path], [apiName(row.operator)]: valueOf(row, paths.get(row.path)) };
  }
  return Object.keys(filter).length === 0 ? null : filter;
}

function valueOf({ operator, text, stored }: Row, kind: Kind | undefined): unknown {
  if (stored !== undefined) return stored;
  if (needsNoValue(operator)) return operator === 'present';
  if (!takesList(operator)) return read(text, kind);
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => read(line, kind));
}

/** An invalid value is sent unchanged, and the API says what is wrong with it. */
function read(text: string, kind: Kind | undefined): unknown {
  const trimmed = text.trim();
  if (kind === 'text' || trimmed === '') return text;
  if (kind === 'number') return Number.isFinite(Number(trimmed)) ? Number(trimmed) : trimmed;
  return kind === 'time' && !Number.isNaN(Date.parse(`${trimmed}Z`)) ? instantOf(trimmed) : trimmed;
}

const fieldOf = ({ path, operator }: Row): string => `filter.${path}.${apiName(operator)}`;

/** Errors that the API cannot see: in its form of a filter, an operator of a path has one place. */
export function repeated(rows: readonly Row[]): Detail[] {
  const fields = rows.filter(({ path }) => path !== '').map(fieldOf);
  return [...new Set(fields.filter((field, index) => fields.indexOf(field) !== index))].map((field) => ({
    field,
    code: 'DUPLICATE',
    message: 'Another row has the same path and operator. Remove one, or give one row that takes several values.',
  }));
}

/** Whether an error is about this row: its path, its operator or one of its values. */
export const concerns = (row: Row, { field }: Detail): boolean => field === `filter.${row.path}` || field?.replace(/\[\d+\]$/, '') === fieldOf(row);
