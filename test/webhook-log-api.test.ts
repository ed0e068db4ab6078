import { randomUUID } from 'node:crypto';
import { reportOf } from '../services/integrations/test/webhooks.ts';
import { startSystem, type System, type TestCompany } from './support/system.ts';
import { HOOKS, webhooksApi, type WebhooksApi } from './support/webhooks-api.ts';

let system: System;
let company: TestCompany;
let other: TestCompany;
let { call, endpoint, deliveries, happen, lease } = {} as WebhooksApi;
beforeAll(async () => {
  system = await startSystem();
  company = await system.createCompany();
  other = await system.createCompany();
  ({ call, endpoint, deliveries, happen, lease } = webhooksApi(system, company));
}, 60_000);
afterAll(() => system.stop());

test('the log shows every attempt with its request and answer, filtered and in pages, newest first', async () => {
  const { id } = await endpoint();
  await happen(4);
  await happen(1, 'interaction.completed');
  const [first, ...rest] = await lease(id);
  const answer = Buffer.from('x'.repeat(3000));
  await deliveries.report(reportOf(first!, { response_status: 503, response_body: answer }));
  for (const delivery of rest) await deliveries.report(reportOf(delivery));

  const page = await call('GET', `${HOOKS}/${id}/deliveries?limit=2`);
  expect(page.body.data).toHaveLength(2);
  const next = await call('GET', `${HOOKS}/${id}/deliveries?limit=3&cursor=${page.body.pagination.nextCursor}`);
  expect(next.body.pagination).toEqual({ nextCursor: null });
  const all = [...page.body.data, ...next.body.data];
  expect(all.map((delivery) => delivery.id)).toEqual(
    all
      .map((delivery) => delivery.id)
      .toSorted()
      .toReversed(),
  );
  expect((await call('GET', `${HOOKS}/${id}/deliveries?eventType=interaction.completed&status=succeeded`)).body.data).toHaveLength(1);
  expect((await call('GET', `${HOOKS}/${id}/deliveries?eventType=webhook.test`)).body.data).toEqual([]);
  const far = await call('GET', `${HOOKS}/${id}/deliveries?eventType=job.created`);
  expect([far.status, far.body.error.details]).toMatchObject([400, [{ location: 'query', field: 'eventType', code: 'INVALID_ENUM_VALUE' }]]);
  expect((await call('GET', `${HOOKS}/${id}/deliveries?event_type=x`)).body.error.details).toMatchObject([{ code: 'UNKNOWN_PARAMETER' }]);

  const [failed] = (await call('GET', `${HOOKS}/${id}/deliveries?status=pending`)).body.data;
  expect(failed.attempts[0].response).toMatchObject({ status: 503, body: 'x'.repeat(2048), bodyTruncated: true });
  const whole = (await call('GET', `${HOOKS}/${id}/deliveries/${failed.id}`)).body.data;
  expect(whole).toMatchObject({
    eventId: first!.event_id,
    status: 'pending',
    nextAttemptAt: expect.any(String),
    requestBody: '{"type":"service_request.created","note":"✓"}',
    requestBodyTruncated: false,
    attempts: [
      {
        number: 1,
        succeeded: false,
        error: null,
        errorMessage: 'The status 503 is a failure: only 2xx accepts a delivery.',
        request: { headers: [{ name: 'webhook-id', value: first!.event_id }], address: '203.0.113.7' },
        response: { status: 503, headers: [{ name: 'content-type', value: 'text/plain' }], body: 'x'.repeat(3000), bodyTruncated: false },
      },
    ],
  });
  expect((await call('GET', `${HOOKS}/${id}/deliveries/${randomUUID()}`)).status).toBe(404);
});

test('a delivery can be repeated and a test sent, even to a disabled endpoint', async () => {
  const { id } = await endpoint();
  await happen();
  const [delivery] = await lease(id);
  await deliveries.report(reportOf(delivery!));
  await call('PATCH', `${HOOKS}/${id}`, { enabled: false });

  const again = await call('POST', `${HOOKS}/${id}/deliveries/${delivery!.delivery_id}/redeliver`);
  expect(again).toEqual({ status: 202, body: { data: { id: delivery!.delivery_id, eventId: delivery!.event_id, status: 'pending' } } });
  const tried = await call('POST', `${HOOKS}/${id}/test`);
  expect(tried).toMatchObject({ status: 202, body: { data: { status: 'pending' } } });

  const leased = await lease(id);
  expect(leased).toHaveLength(2);
  const test = leased.find((each) => each.delivery_id === tried.body.data.id)!;
  expect(JSON.parse(Buffer.from(test.body).toString())).toMatchObject({
    id: tried.body.data.eventId,
    type: 'webhook.test',
    company_id: company.id,
    sequence: 1,
  });
  for (const each of leased) await deliveries.report(reportOf(each, { response_status: each === test ? 500 : 200 }));
  const statuses = (await call('GET', `${HOOKS}/${id}/deliveries`)).body.data.map((each: any) => [each.eventType, each.status, each.attempts.length]);
  expect(statuses).toEqual([
    ['webhook.test', 'failed', 1],
    ['service_request.created', 'succeeded', 2],
  ]);
  expect((await call('POST', `${HOOKS}/${id}/deliveries/${randomUUID()}/redeliver`)).status).toBe(404);
});

test('a delivery shows its newest 20 attempts and links to all of them; it can be repeated 20 times', async () => {
  const { id } = await endpoint();
  await happen(2);
  // A page of at most a megabyte has room for twenty of these.
  const answer = Buffer.alloc(47_500, 'x');
  const [delivery, another] = await lease(id);
  await deliveries.report(reportOf(another!));
  await deliveries.report(reportOf(delivery!, { response_body: answer }));
  const path = `${HOOKS}/${id}/deliveries/${delivery!.delivery_id}`;
  for (let i = 0; i < 20; i += 1) {
    expect((await call('POST', `${path}/redeliver`)).status).toBe(202);
    const [again] = await lease(id);
    await deliveries.report(reportOf(again!, { response_body: answer }));
  }
  expect(await call('POST', `${path}/redeliver`)).toMatchObject({ status: 409, body: { error: { code: 'LIMIT_REACHED' } } });

  const numbers = (attempts: any[]) => attempts.map(({ number }) => number);
  const down = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, i) => from - i);
  const { attempts, attemptsNextCursor } = (await call('GET', path)).body.data;
  expect(numbers(attempts)).toEqual(down(21, 2).toReversed());
  const rest = await call('GET', `${path}/attempts?cursor=${attemptsNextCursor}`);
  expect([numbers(rest.body.data), rest.body.pagination.nextCursor]).toEqual([[1], null]);
  expect(rest.body.data[0].response).toMatchObject({ body: 'x'.repeat(47_500), bodyTruncated: false });

  const [all, sizes]: [number[], number[]] = [[], []];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: any = (await call('GET', `${path}/attempts?limit=100${cursor && `&cursor=${cursor}`}`)).body;
    all.push(...numbers(page.data));
    sizes.push(page.data.length);
    cursor = page.pagination.nextCursor;
  }
  expect([all, sizes]).toEqual([down(21, 1), [20, 1]]);
  expect(numbers((await call('GET', `${path}/attempts?limit=3`)).body.data)).toEqual([21, 20, 19]);

  // The list has filters that the attempts do not have.
  const filtered = await call('GET', `${HOOKS}/${id}/deliveries?createdFrom=2026-01-01T00:00:00Z`);
  const [, listed] = filtered.body.data.toSorted((a: any, b: any) => a.attempts.length - b.attempts.length);
  expect(numbers(listed.attempts)).toEqual([17, 18, 19, 20, 21]);
  expect(numbers((await call('GET', `${path}/attempts?limit=1&cursor=${listed.attemptsNextCursor}`)).body.data)).toEqual([16]);
  const elsewhere = `${HOOKS}/${id}/deliveries/${another!.delivery_id}`;
  expect((await call('GET', elsewhere)).body.data.attemptsNextCursor).toBeNull();
  expect((await call('GET', `${elsewhere}/attempts?cursor=${attemptsNextCursor}`)).body.error.code).toBe('INVALID_CURSOR');
  expect((await call('GET', `${elsewhere}/attempts?cursor=${attemptsNextCursor}x`)).body.error.code).toBe('INVALID_CURSOR');
  expect((await call('GET', `${path}/attempts`, undefined, system.userToken(other))).status).toBe(404);
  expect((await call('GET', `${HOOKS}/${id}/deliveries/${randomUUID()}/attempts`)).status).toBe(404);
});
