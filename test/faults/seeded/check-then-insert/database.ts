// The bug: a key is looked up first and stored only after the write, without a lock. Two concurrent requests with one key both find it unused.
import { rewritten } from '../rewritten.ts';

export * from '../../../../packages/postgres/src/database.ts';

const LOCK = /pg_try_advisory_xact_lock\(hashtextextended\((\$\d), \d\)\)/;
const STORE = /insert into idempotency_keys [^]*? values \([^]*?\)/;

export const withoutLock = (text: string): string =>
  text.replace(LOCK, '$1::text is not null').replace(STORE, '$& on conflict (company_id, user_id, key) do update set fingerprint = excluded.fingerprint');

export const Database = rewritten(() => ({
  instead: ({ text, ...rest }) => ({ ...rest, text: withoutLock(text) }),
}));
