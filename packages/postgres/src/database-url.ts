// PostgreSQL URLs with several hosts, as libpq accepts them. pg does not: driver/writable-host.ts chooses one.

import { parseAddress } from '@truckroll/process';

/** A URL, or a function that reads it again for each new connection. */
export type DatabaseUrl = string | (() => string);

const PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^@/?#]*)(.*)$/;
const DEFAULT_PORT = 5432;
const ATTRIBUTES = 'target_session_attrs';

export const DATABASE_URL_FORM =
  'postgres://user:password@host:5432/database, and with several hosts, host:5432,other:5432, also ?target_session_attrs=read-write';

export interface ParsedDatabaseUrl {
  /** One URL for each host, in order. */
  readonly urls: readonly [string, ...string[]];
  readonly readWrite: boolean;
}

/** Undefined if the text is not a PostgreSQL URL, or names several hosts without target_session_attrs=read-write. */
export function parseDatabaseUrl(text: string): ParsedDatabaseUrl | undefined {
  const parts = PARTS.exec(text);
  if (parts === null) return undefined;
  const [start, hosts, end] = parts.slice(1) as [string, string, string];
  const each = hosts.split(',');
  const urls = each.map((host) => `${start}${host}${end}`) as [string, ...string[]];
  // The only host may be missing, which means PGHOST, or the folder of a socket.
  const isDefaultOrSocket = /^(?:%2f[^,]*)?$/i.test(hosts);
  if (!isDefaultOrSocket && !each.every((host) => parseAddress(host, DEFAULT_PORT) !== undefined)) return undefined;
  if (!URL.canParse(urls[0])) return undefined;
  const attributes = new URL(urls[0]).searchParams.get(ATTRIBUTES);
  if (attributes !== null && attributes !== 'read-write') return undefined;
  if (attributes === null && urls.length > 1) return undefined;
  return { urls, readWrite: attributes !== null };
}
