// The bug: whether a key is new is looked up, and the key is stored when the write is done. Two requests with one key
// that come at once both find it new.
import type { Transaction } from '../../../../packages/service-kit/src/database.ts';
import { nothing, rewritten } from '../rewritten.ts';

export * from '../../../../packages/service-kit/src/database.ts';

export const Database = rewritten(() => {
  let claim: readonly unknown[] = [];
  return (statement, tx) => {
    if (statement.name === 'claim_idempotency_key') return look((claim = statement.values ?? []), tx);
    return statement.name === 'answer_idempotency_key' ? store(claim, statement.values ?? [], tx) : undefined;
  };
});

/** A row for a claim, as the statement that it stands for would return. */
async function look(claim: readonly unknown[], tx: Transaction): Promise<typeof nothing> {
  const { rowCount } = await tx.query({
    text: 'select from idempotency_keys where company_id = $1::uuid and user_id = $2::uuid and key = $3::text',
    values: claim.slice(0, 3),
  });
  return { ...nothing, rowCount: 1 - rowCount };
}

async function store(claim: readonly unknown[], [, , , status, location, response]: readonly unknown[], tx: Transaction): Promise<typeof nothing> {
  await tx.query({
    text: `insert into idempotency_keys (company_id, user_id, key, fingerprint, status, location, response) values ($1, $2, $3, $4, $5, $6, $7)
      on conflict (company_id, user_id, key) do update set status = excluded.status, location = excluded.location, response = excluded.response`,
    values: [...claim, status, location, response],
  });
  return nothing;
}
