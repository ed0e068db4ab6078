// The bug: whether a key is new is looked up, and the key is stored when the write is done, with nothing in between. Two requests with
// one key that come at once, on two visits, both find it new.
import { rewritten } from '../rewritten.ts';

export * from '../../../../packages/service-kit/src/database.ts';

const LOCK = /pg_try_advisory_xact_lock\(hashtextextended\((\$\d), \d\)\)/;
const STORE = /insert into idempotency_keys .*? values \(.*?\)/;

export const Database = rewritten(() => ({
  instead: ({ text, ...rest }) => ({
    ...rest,
    text: text
      .replace(LOCK, '$1::text is not null')
      .replace(STORE, '$& on conflict (company_id, user_id, key) do update set fingerprint = excluded.fingerprint'),
  }),
}));
