import { Database, type CompanyDatabase, type Transaction, type TransactionOptions } from '../../../packages/postgres/src/database.ts';
import type { Statement } from '../../../packages/postgres/src/statement.ts';

export interface Intrusion {
  instead?(statement: Statement): Statement;
  beforeCommit?(tx: Transaction): Promise<unknown>;
}

type Work<T> = (tx: Transaction) => Promise<T>;

export function rewritten(intrude: () => Intrusion): typeof Database {
  const intruded =
    <T>(work: Work<T>, options?: TransactionOptions): Work<T> =>
    async (tx) => {
      const { instead = (statement) => statement, beforeCommit } = intrude();
      let finished = false;
      const result = await work({
        ...tx,
        query: (statement) => tx.query(instead(statement)),
        queryBinary: (statement) => tx.queryBinary(instead(statement)),
        async finish(statements) {
          finished = true;
          const results = [];
          for (const statement of statements) results.push(await tx.query(instead(statement)));
          await beforeCommit?.(tx);
          await tx.finish([]);
          return results;
        },
      });
      if (!finished && options?.readOnly !== true) await beforeCommit?.(tx);
      return result;
    };
  return class extends Database {
    override transaction<T>(work: Work<T>, options?: TransactionOptions): Promise<T> {
      return super.transaction(intruded(work, options), options);
    }

    override of(companyId: string): CompanyDatabase {
      const company = super.of(companyId);
      return { ...company, transaction: (work, options) => company.transaction(intruded(work, options), options) };
    }
  };
}
