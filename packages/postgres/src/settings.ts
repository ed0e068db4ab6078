import { env, setting, type Config, type Default, type Setting } from '@truckroll/process';
import { DATABASE_URL_FORM, parseDatabaseUrl, type DatabaseUrl } from './database-url.ts';
import type { ConnectionOptions } from './statement.ts';

/** Settings of a service that has a schema. Spread them. */
export const databaseSettings = {
  /** PostgreSQL, with a role that owns the service's schema. With several hosts, connections go to the host that accepts writes. */
  databaseUrl: databaseUrlSetting('DATABASE_URL'),
  /** The same database past a pooler in transaction mode. DATABASE_URL unless set. */
  databaseSessionUrl: databaseUrlSetting('DATABASE_SESSION_URL', undefined),
  /** `false`: the service does not migrate its schema at start, and is unready until `truckroll migrate` has done so. */
  migrateAtStart: env.boolean('MIGRATE_AT_START', true),
};

type DatabaseConfig = Config<typeof databaseSettings>;

/** In the form that `openDatabase` takes. */
export function databaseUrls(config: Pick<DatabaseConfig, 'databaseUrl' | 'databaseSessionUrl'>): Pick<ConnectionOptions, 'url' | 'sessionUrl'> {
  return { url: config.databaseUrl, sessionUrl: config.databaseSessionUrl };
}

/** A PostgreSQL URL. If it is in a file, the file is read again for each connection; if that fails, the last URL is used. */
function databaseUrlSetting<D extends undefined = never>(name: string, ...fallback: Default<D>): Setting<DatabaseUrl | D> {
  const parse = (text: string): string | undefined => (parseDatabaseUrl(text) === undefined ? undefined : text);
  const live = (read: () => string): DatabaseUrl => {
    let last = read();
    return () => {
      try {
        last = parse(read()) ?? last;
      } catch {
        // The file is missing or being replaced.
      }
      return last;
    };
  };
  return { ...setting<DatabaseUrl | D>(name, DATABASE_URL_FORM, fallback, parse, false), live };
}
