// Work that replicas share: each skips the rows that another one holds. Each test fails without its `skip locked`.
import { randomUUID } from 'node:crypto';
import { hashApiKey, now } from '@truckroll/contract';
import { forgetEnded } from '@truckroll/mail';
import type { Database } from '@truckroll/postgres';
import { holdingLocks, openFreshDatabase } from '@truckroll/testing';
import { purgeAuditEvents } from '../src/audit/store.ts';
import { reservePending } from '../src/identity/pending.ts';
import { touchKeys } from '../src/identity/authenticate.ts';
import { purgeRevokedKeys } from '../src/keys/store.ts';
import { take } from '../src/mails/store.ts';
import { schema } from '../src/schema.ts';
import { addToCounts, keepCounts } from '../src/webhooks/health/count-store.ts';
import { gathered, noCounts, type CountsRow } from '../src/webhooks/health/counts.ts';
import { recoverSome } from '../src/webhooks/queue/recover.ts';

const MINUTE = 60_000_000;
const LONG_AGO = `now() - interval '400 days'`;
const company = randomUUID();
const user = randomUUID();
const endpoint = randomUUID();

let database: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ database, close } = await openFreshDatabase(schema));
  for (const [text, values] of [
    [`insert into companies (id, name, timezone, costing_enabled, verified_only) values ($1, 'x', 'UTC', true, false)`, [company]],
    [`insert into users (id, company_id, subject, email, first_name, last_name) values ($1, $2, 'x', 'ana@example.com', 'Ana', 'Ruiz')`, [user, company]],
    [
      `insert into webhook_endpoints (id, company_id, created_by, name, url, event_types, enabled, secret)
        values ($1, $2, $3, 'x', 'https://example.com', '{}', true, '')`,
      [endpoint, company, user],
    ],
  ] as const) {
    await database.query({ text, values: [...values] });
  }
}, 60_000);
afterAll(() => close());

const holding = <T>(work: Parameters<typeof holdingLocks<T>>[1]): Promise<T> => holdingLocks(database.options, work);

async function key(id: string, revokedAt: string | null = null): Promise<string> {
  const columns = 'id, company_id, user_id, created_by_kind, name, hash, key_prefix, key_suffix, revoked_at';
  const text = `insert into api_keys (${columns}) values ($1, $2, $3, 'USER', 'x', $4, 'prefix__', 'last', ${revokedAt})`;
  await database.query({ text, values: [id, company, user, hashApiKey(id)] });
  return id;
}

const counts = (endpointId: string, at: number): CountsRow => ({ ...noCounts(), companyId: company, endpointId, at, minutes: 1, delivered: 1 });

/** By kind of work: inserts a row, the statement by which another replica holds it, and the work, which resolves to the number of rows done. */
const works: Record<string, { insert: () => Promise<unknown>; hold: string; work: () => Promise<number> }> = {
  'e-mails to send': {
    insert: () => database.query({ text: `insert into mails (company_id, user_id, subject, body) values ($1, $2, '', '')`, values: [company, user] }),
    hold: `update mails set status = 'ATTEMPTING'`,
    work: async () => (await take(database, 10, 1000)).length,
  },
  'e-mails that ended long ago': {
    insert: () =>
      database.query({
        text: `insert into mails (company_id, user_id, subject, body, status, finished_at) values ($1, $2, '', '', 'SENT', ${LONG_AGO})`,
        values: [company, user],
      }),
    hold: `select from mails where status = 'SENT' for update`,
    work: () => forgetEnded(database, 'mails'),
  },
  'invalidations to publish': {
    insert: () => database.query({ text: `insert into pending_invalidations (subject) values ('x')` }),
    hold: 'select from pending_invalidations for update',
    work: () => database.transaction(async (tx) => (await reservePending(tx)).length),
  },
  'keys that were revoked long ago': {
    insert: () => key(randomUUID(), LONG_AGO),
    hold: 'select from api_keys for update',
    work: () => purgeRevokedKeys(database),
  },
  'audit events of long ago': {
    insert: () =>
      database.query({
        text: `insert into audit_events (company_id, at, id, actor_kind, actor_id, actor_name, action, object_kind, object_id)
          values ($1, ${LONG_AGO}, gen_random_uuid(), 'OPERATOR', '', '', '', '', '')`,
        values: [company],
      }),
    hold: 'select from audit_events for update',
    work: () => purgeAuditEvents(database, now()),
  },
  'counts of long ago': {
    insert: () => database.query(addToCounts([counts(endpoint, now() - 100 * MINUTE)])),
    hold: 'select from webhook_counts for update',
    work: async () => {
      await keepCounts(database, now());
      return (await database.query({ text: 'select from webhook_counts where minutes > 1' })).rowCount;
    },
  },
  'a recovery that another replica goes on with': {
    insert: () =>
      database.query({
        text: `insert into webhook_recoveries (endpoint_id, since, until, skipped_since) values ($1, now(), now(), now())`,
        values: [endpoint],
      }),
    hold: 'select from webhook_recoveries for update',
    work: async () => Number(await recoverSome(database)),
  },
  'a recovery whose endpoint is being changed': {
    insert: () =>
      database.query({
        text: `insert into webhook_recoveries (endpoint_id, since, until, skipped_since) values ($1, now(), now(), now())`,
        values: [endpoint],
      }),
    hold: 'select from webhook_endpoints for no key update',
    work: async () => Number(await recoverSome(database)),
  },
};

test.each(Object.keys(works))('%s', async (name) => {
  const { insert, hold, work } = works[name]!;
  await insert();
  await holding(async (holder) => {
    await holder.run(hold);
    const working = work();
    expect(await holder.waiting(1, working)).toBe(false);
    expect(await working).toBe(0);
    await holder.rollback();
  });
  expect(await work()).toBe(1);
});

describe('rows that many change are locked in the order of their ids', () => {
  test('keys, whose uses several gateways report', async () => {
    const [low, high] = [await key(randomUUID()), await key(randomUUID())].toSorted();
    await holding(async (holder) => {
      await holder.run('select from api_keys where id = $1 for update', [low]);
      const touched = touchKeys(
        database,
        [high, low].map((id) => ({ company_id: company, key_id: id!, used_at: now() })),
      );
      await holder.waiting(1, touched);
      expect(await holder.isFree('api_keys', high)).toBe(true);
      await holder.rollback();
      await touched;
    });
  });

  test('counts of endpoints, which every batch of attempts adds to', async () => {
    const at = now() - (now() % MINUTE);
    const [low, high] = [randomUUID(), randomUUID()].toSorted() as [string, string];
    const both = gathered([counts(high, at), counts(low, at)]);
    await database.query(addToCounts(both));
    await holding(async (holder) => {
      await holder.run('select from webhook_counts where endpoint_id = $1 for update', [low]);
      const added = database.query(addToCounts(both));
      await holder.waiting(1, added);
      expect(await holder.isFree('webhook_counts', high, 'endpoint_id')).toBe(true);
      await holder.rollback();
      await added;
    });
  });
});
