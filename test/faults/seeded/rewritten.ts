// The access to PostgreSQL, with single statements of a transaction carried out in another way.
import { Database, type DatabaseOptions, type Transaction, type TransactionOptions } from '../../../packages/service-kit/src/database.ts';
import type { Statement, StatementResult } from '../../../packages/service-kit/src/connection.ts';

/** Does something else in the place of a statement; undefined leaves it as it is. One is made for each transaction. */
export type Rewrite = (statement: Statement, tx: Transaction) => Promise<StatementResult<any>> | undefined;

export function rewritten(rewriteOf: () => Rewrite): typeof Database {
  return class extends Database {
    constructor(options: DatabaseOptions) {
      super(options);
    }

    override transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T> {
      return super.transaction((tx) => {
        const rewrite = rewriteOf();
        return work({
          ...tx,
          query: (statement) => rewrite(statement, tx) ?? tx.query(statement),
          async finish(statements) {
            const left: Statement[] = [];
            for (const statement of statements) {
              const instead = rewrite(statement, tx);
              if (instead === undefined) left.push(statement);
              else await instead;
            }
            await tx.finish(left);
          },
        });
      }, options);
    }
  };
}

export const nothing: StatementResult<any> = { rows: [], rowCount: 0, command: 'SELECT' };
