// Pages of lists under /api/v1 end at 1 MB, both of what is read for them and of their JSON (decisions §17).
import { messageJson, now } from '@truckroll/contract';
import { auditEntry } from '@truckroll/outbox';
import { insertAuditEntries, selectAuditEvents } from '../src/audit/store.ts';
import { startDesk } from './webhooks.ts';

let desk: Awaited<ReturnType<typeof startDesk>>;
beforeAll(async () => void (desk = await startDesk()), 60_000);
afterEach(() => desk.sql('delete from webhook_queue'));
afterAll(() => desk.stop());

const MEGABYTE = 1_000_000;
type Endpoint = Awaited<ReturnType<typeof desk.endpoint>>;

/** The pages from the first to the last. */
async function pagesOf<T>(page: (after: Buffer) => Promise<{ data: T[]; next: Uint8Array }>): Promise<T[][]> {
  const pages: T[][] = [];
  for (let after = Buffer.alloc(0); pages.length === 0 || after.length > 0; ) {
    const { data, next } = await page(after);
    pages.push(data);
    after = Buffer.from(next);
  }
  return pages;
}

const scopeOf = ({ company }: Endpoint) => ({ company_id: company.id, time_zone: 'America/Chicago' });

const deliveriesOf = (one: Endpoint) =>
  pagesOf((after) =>
    desk.log.listWebhookDeliveries({
      collection: { ...scopeOf(one), limit: 100, after, ids: [] },
      webhook_id: one.id,
      status: [],
      event_type: [],
      progress: [],
    }),
  );
const attemptsOf = (one: Endpoint, delivery_id: string) =>
  pagesOf((after) => desk.log.listWebhookDeliveryAttempts({ collection: { ...scopeOf(one), limit: 100, after, ids: [] }, webhook_id: one.id, delivery_id }));

/** Stores attempts of each of the endpoint's deliveries. */
async function attempted(one: Endpoint, { attempts, header = '', body = '' }: { attempts: number; header?: string; body?: string }): Promise<void> {
  await desk.sql(
    `insert into webhook_attempts (day, delivery_id, lease_token, number, started_at, ended_at, succeeded, status, request_headers, response_headers, response_body, response_truncated)
      select d.day, d.id, gen_random_uuid(), n, now(), now(), false, 500, '[]', jsonb_build_array(jsonb_build_object('name', 'x-long', 'value', $3::text)), $4, false
      from webhook_deliveries d, generate_series(1, $2::int) n where d.company_id = $1`,
    [one.company.id, attempts, header, Buffer.from(body)],
  );
}

async function withDeliveries(count: number): Promise<Endpoint> {
  const one = await desk.endpoint();
  await desk.fanOut(...Array.from({ length: count }, (_, index) => one.event({ timestamp: now() + index * 1000 })));
  return one;
}

const jsonBytes = (type: string, messages: readonly object[]): number =>
  messages.reduce((sum, message) => sum + Buffer.byteLength(messageJson(`truckroll.integrations.v1.${type}`, message, 'camel')), 0);

test('of deliveries end by what their attempts need in JSON, and all deliveries are listed once', async () => {
  const one = await withDeliveries(20);
  // In JSON, a control character has six bytes.
  await attempted(one, { attempts: 6, header: '\u0002'.repeat(2000), body: '\u0001'.repeat(65_536) });
  const pages = await deliveriesOf(one);
  expect(pages.flat().map(({ id }) => id)).toEqual(
    pages
      .flat()
      .map(({ id }) => id)
      .toSorted()
      .reverse(),
  );
  expect(pages.flat()).toHaveLength(20);
  const sizes = pages.map((page) =>
    jsonBytes(
      'WebhookDelivery',
      page.map((each) => ({ ...each, attempts_next_cursor: null })),
    ),
  );
  expect(Math.max(...sizes)).toBeLessThanOrEqual(MEGABYTE);
  // A page ends as late as it can.
  expect(pages.map(({ length }) => length)).toEqual([8, 8, 4]);
});

test('of deliveries end by what is read for them, although little of it is shown', async () => {
  const one = await withDeliveries(40);
  await attempted(one, { attempts: 1, header: 'v'.repeat(60_000) });
  expect((await deliveriesOf(one)).map(({ length }) => length)).toEqual([16, 16, 8]);
});

test('of attempts end by their JSON, and by the headers that are read', async () => {
  const one = await withDeliveries(1);
  await attempted(one, { attempts: 21, body: '\u0001'.repeat(65_536) });
  const { id } = (await one.deliveries())[0]!;
  const pages = await attemptsOf(one, id);
  expect(pages.map((page) => page.map(({ number }) => number))).toEqual([...Array.from({ length: 10 }, (_, i) => [21 - 2 * i, 20 - 2 * i]), [1]]);
  expect(jsonBytes('WebhookAttempt', pages[0]!)).toBeLessThanOrEqual(MEGABYTE);
  const other = await withDeliveries(1);
  await attempted(other, { attempts: 4, header: 'v'.repeat(400_000) });
  expect((await attemptsOf(other, (await other.deliveries())[0]!.id)).map(({ length }) => length)).toEqual([2, 2]);
});

test('of attempts go on where a delivery alone stops showing them', async () => {
  const one = await withDeliveries(1);
  await attempted(one, { attempts: 21, body: 'x'.repeat(65_536) });
  const { id } = (await one.deliveries())[0]!;
  const { data } = await desk.log.getWebhookDelivery({ key: { ...scopeOf(one), id }, webhook_id: one.id });
  const shown = data!.attempts.map(({ number }) => number);
  expect(shown).toEqual([7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21]);
  const collection = { ...scopeOf(one), limit: 100, after: Buffer.from(data!.attempts_next_cursor!), ids: [] };
  const rest = await desk.log.listWebhookDeliveryAttempts({ collection, webhook_id: one.id, delivery_id: id });
  expect(rest.data.map(({ number }) => number)).toEqual([6, 5, 4, 3, 2, 1]);
});

test.each([100, 2])('of the audit trail end by the states that they show, with at least one event, in pages of %i', async (limit) => {
  const company = await desk.company();
  const at = now();
  const sizes = [1_500_000, 300_000, 300_000, 300_000, 300_000, 10];
  const entries = sizes.map((bytes, index) => ({
    ...auditEntry({ companyId: company.id, action: 'x', object: { kind: 'x', id: String(index) }, before: JSON.stringify('é'.repeat(bytes / 2)) }),
    at: at - index,
  }));
  const database = desk.openDatabase();
  await database.transaction((tx) => insertAuditEntries(tx, entries));
  const filter = { companyId: company.id, ids: [], from: null, before: null, actor: [], action: ['x'], limit };
  const pages = await pagesOf(async (after) => {
    const { events, next } = await selectAuditEvents(database, { ...filter, after });
    return { data: events.map(({ event }) => Number(event.object?.id)), next };
  });
  expect(pages).toEqual(limit === 2 ? [[0], [1, 2], [3, 4], [5]] : [[0], [1, 2, 3], [4, 5]]);
});
