import type { Database, DatabaseSession, Statement } from '@truckroll/postgres';

interface Moments {
  before?: (statement: Statement) => unknown;
  after?: () => unknown;
  closed?: () => void;
}

/** The database, with work before and after each statement outside of transactions, and after the end of a session. */
export function watched(database: Database, { before, after, closed }: Moments): Database {
  return {
    async query<R>(statement: Statement) {
      await before?.(statement);
      const result = await database.query<R>(statement);
      await after?.();
      return result;
    },
    queryBinary: database.queryBinary.bind(database),
    transaction: database.transaction.bind(database),
    async session(): Promise<DatabaseSession> {
      const held = await database.session();
      return { ...held, close: () => held.close().then(closed) };
    },
  } as unknown as Database;
}
