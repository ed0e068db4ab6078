// One set of ids with the values of several seeds: what an import of the same system, exported twice, would bring into two companies.
import { generateCompany } from '@truckroll/demo-company';
import type { Json } from '../support/expected.ts';

export type Lines = [path: string, lines: Json[]][];

const UNTIL = '2026-03-10T16:00:00Z';
const SIZE = 20;
const IDS_SEED = 1;
/** Kinds with many small records. */
const MOST_LINES = 120;

/** Values of a seed under the ids of one seed, in the order of import. */
export function valuesOf(seed: number, timezone: string): Lines {
  const given = linesOf(seed, timezone);
  const ids = new Map<string, string>();
  const names = new Map(linesOf(IDS_SEED, timezone));
  for (const [path, lines] of given) {
    // Records that the other seed has no id for keep theirs.
    lines.forEach(({ id }, n) => ids.set(id, names.get(path)?.[n]?.['id'] ?? id));
  }
  return given.map(([path, lines]) => [path, lines.map((line) => renamed(line, ids) as Json)]);
}

function linesOf(seed: number, timezone: string): Lines {
  return generateCompany({ seed, size: SIZE, timezone, until: UNTIL }).map(({ path, records }) => [path, [...records].slice(0, MOST_LINES) as Json[]]);
}

function renamed(value: unknown, ids: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return ids.get(value) ?? value;
  if (Array.isArray(value)) return value.map((element) => renamed(element, ids));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, renamed(of, ids)]));
}
