// pg as most services use it, with type parsers for microseconds and for numbers as the contract writes them.
import pg from 'pg';

/** Converts PostgreSQL's text in UTC, `2026-03-01 15:04:05.12+00`, to the contract's format. */
function instant(text: string): string {
  const day = text.slice(0, 10);
  const clock = text.slice(11, 19);
  const fraction = text.slice(20, -3);
  return fraction === '' ? `${day}T${clock}Z` : `${day}T${clock}.${fraction.padEnd(6, '0')}Z`;
}

const { builtins } = pg.types;

const parsers = new Map<number, (text: string) => unknown>([
  [builtins.INT8, Number],
  [builtins.TIMESTAMPTZ, instant],
]);

const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => parsers.get(oid) ?? (pg.types.getTypeParser(oid, format) as (text: string) => unknown),
};

/** Connects to the tables of `schema`. `settings` are extra session settings. */
export function openPool(connectionString: string, schema = 'baseline', settings: Readonly<Record<string, string>> = {}): pg.Pool {
  const all = { TimeZone: 'UTC', search_path: schema, jit: 'off', ...settings };
  return new pg.Pool({
    connectionString,
    max: 10,
    application_name: 'truckroll-baseline',
    options: Object.entries(all)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
    types,
  });
}
