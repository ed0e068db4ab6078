// The bug: whether a key is new is looked up, and the key is stored when the write is done. Two requests with one key
// that come at once both find it new.
import { rewritten } from '../rewritten.ts';

export * from '../../../../packages/service-kit/src/database.ts';

export const Database = rewritten(() => {
  let claim: readonly unknown[] | undefined;
  return {
    instead(statement, tx) {
      if (statement.name !== 'claim_idempotency_key') return undefined;
      claim = statement.values ?? [];
      const text = 'select from idempotency_keys where company_id = $1::uuid and user_id = $2::uuid and key = $3::text';
      return tx.query({ text, values: claim.slice(0, 3) }).then((found) => ({ ...found, rowCount: 1 - found.rowCount }));
    },
    async beforeLast(tx) {
      if (claim === undefined) return;
      const text = `insert into idempotency_keys (company_id, user_id, key, fingerprint) values ($1, $2, $3, $4)
        on conflict (company_id, user_id, key) do update set fingerprint = excluded.fingerprint`;
      await tx.query({ text, values: claim });
    },
  };
});
