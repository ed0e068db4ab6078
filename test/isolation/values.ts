// The same ids with the values of several seeds, as if one system had been exported twice and imported into two companies.
import { generateCompany } from '@truckroll/demo-company';
import type { Json } from '../support/expected.ts';

export type Lines = [path: string, lines: Json[]][];

const UNTIL = '2026-03-10T16:00:00Z';
const SIZE = 20;
const IDS_SEED = 1;
const MOST_LINES = 120;

/** The values of a seed under the ids of a fixed seed, in import order. */
export function valuesOf(seed: number, timezone: string): Lines {
  const given = linesOf(seed, timezone);
  const ids = new Map<string, string>();
  const names = new Map(linesOf(IDS_SEED, timezone));
  for (const [path, lines] of given) {
    // Records without a counterpart in the other seed keep their own id.
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
