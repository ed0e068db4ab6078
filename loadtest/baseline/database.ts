// pg as most services use it, with the few type parsers that keep the contract's microseconds and numbers.
import pg from 'pg';

/** PostgreSQL's text in UTC, `2026-03-01 15:04:05.12+00`, as the contract spells it. */
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
  getTypeParser: (oid: number, format?: 'text' | 'binary') => parsers.get(oid) ?? pg.types.getTypeParser(oid, format),
};

/** The pool’s tables are those of the schema; `settings` are further ones of its sessions. */
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
