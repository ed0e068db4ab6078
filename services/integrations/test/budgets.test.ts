// What a company's clients may add to its histories in a day, over all replicas (decisions §17).
import { refusal } from './harness.ts';
import { startDesk } from './webhooks.ts';

let desk: Awaited<ReturnType<typeof startDesk>>;
beforeAll(async () => void (desk = await startDesk()), 60_000);
afterEach(() => desk.sql('delete from webhook_queue'));
afterAll(() => desk.stop());

type Endpoint = Awaited<ReturnType<typeof desk.endpoint>>;
const TODAY = `(now() at time zone 'UTC')::date`;

async function use(one: Endpoint, budget: string, used: number, day = TODAY): Promise<void> {
  await desk.sql(
    `insert into company_budgets values ($1, $2, ${day}, $3) on conflict (company_id, budget) do update set used = excluded.used, day = excluded.day`,
    [one.company.id, budget, used],
  );
}

const usedOf = async (one: Endpoint, budget: string): Promise<number> =>
  Number((await desk.sql('select used from company_budgets where company_id = $1 and budget = $2', [one.company.id, budget]))[0]?.['used'] ?? 0);

const entriesOf = async (one: Endpoint): Promise<number> => (await desk.sql('select from audit_events where company_id = $1', [one.company.id])).length;

test('every change of a client counts what its entry adds to the audit trail', async () => {
  const one = await desk.endpoint();
  const { data: key } = await desk.apiKeys.createApiKey({ caller: one.caller, name: 'Export' });
  await one.update({ name: 'Renamed' });
  await desk.apiKeys.deleteApiKey({ caller: one.caller, id: key!.id });
  const [stored] = await desk.sql(
    `select count(*) * 500 + sum(coalesce(octet_length(before), 0) + coalesce(octet_length(after), 0)) as bytes from audit_events
      where company_id = $1 and actor_kind = 'USER'`,
    [one.company.id],
  );
  expect(await usedOf(one, 'audit')).toBe(Number(stored!['bytes']));
});

test('a change beyond the budget of the audit trail is refused until tomorrow, and leaves no trace', async () => {
  const one = await desk.endpoint();
  const { data: key } = await desk.apiKeys.createApiKey({ caller: one.caller, name: 'Export' });
  await use(one, 'audit', 3_999_999);
  await one.update({ name: 'The last of the day' });
  const before = [await one.read(), await entriesOf(one), await usedOf(one, 'audit')];
  const { caller, id } = one;
  const fields = { name: 'Other', url: 'https://example.com', event_types: ['service_request.created'] };
  const changes = [
    () => one.update({ name: 'Renamed' }),
    () => desk.webhooks.createWebhook({ caller, ...fields }),
    () => desk.webhooks.testWebhook({ caller, id }),
    () => desk.webhooks.rotateWebhookSecret({ caller, id }),
    () => desk.webhooks.recoverWebhook({ caller, id, since: one.company.created_at }),
    () => desk.log.redeliverWebhooks({ caller, webhook_id: id, delivery_ids: ['00000000-0000-8000-8000-000000000000'] }),
    () => desk.apiKeys.createApiKey({ caller, name: 'Other' }),
    () => desk.apiKeys.rotateApiKey({ caller, id: key!.id }),
  ];
  for (const change of changes) {
    const refused = (await refusal(change())) as Awaited<ReturnType<typeof refusal>> & { code: string; retryAfterSeconds: number };
    expect(refused).toMatchObject({ status: 429, code: 'RATE_LIMITED', message: expect.stringContaining('audit trail is full for today') });
    expect(refused.retryAfterSeconds).toBeGreaterThan(0);
    expect(refused.retryAfterSeconds).toBeLessThanOrEqual(86_400);
  }
  expect([await one.read(), await entriesOf(one), await usedOf(one, 'audit')]).toEqual(before);
  // Another company's budget is its own, and an operator's changes have none.
  await (await desk.endpoint()).update({ name: 'Renamed' });
  await desk.keys.createKey({ company_id: one.company.id, user_id: one.user.id, name: 'By an operator', limits: null });
  // What takes rights away is always allowed.
  await desk.apiKeys.deleteApiKey({ caller, id: key!.id });
  await desk.webhooks.deleteWebhook({ caller, id });
  await use(one, 'audit', 4_000_000, `${TODAY} - 1`);
  await desk.webhooks.createWebhook({ caller, ...fields });
  expect(await usedOf(one, 'audit')).toBeLessThan(5000);
});

test('tests of webhooks have a budget of what their events store', async () => {
  const one = await desk.endpoint();
  const test = () => desk.webhooks.testWebhook({ caller: one.caller, id: one.id });
  const { data } = await test();
  const [stored] = await desk.sql('select octet_length(body) as bytes from webhook_events where id = $1', [data!.event_id]);
  expect(await usedOf(one, 'tests')).toBe(stored!['bytes']);
  await use(one, 'tests', 4_000_000);
  expect(await refusal(test())).toMatchObject({ status: 429, message: expect.stringContaining('as many tests') });
  await one.update({ name: 'Renamed' });
});

test('long answers are recorded within a budget, and of every answer the first kilobyte', async () => {
  const one = await desk.endpoint();
  const other = await desk.endpoint();
  const headers = [
    { name: 'x-short', value: 'v'.repeat(93) },
    { name: 'x-long', value: 'v'.repeat(2000) },
    { name: 'x-last', value: 'v' },
  ];
  const answered = async (to: Endpoint, bytes: number, response_headers = headers.slice(0, 0)) => {
    await desk.fanOut(to.event());
    const [delivery] = await desk.lease();
    await desk.report(delivery!, { response_headers, response_body: Buffer.alloc(bytes, 'x') });
    const response = (await to.deliveries()).find(({ id }) => id === delivery!.delivery_id)!.attempts[0]!.response!;
    return [response.body.length, response.headers.map(({ value }) => value.length), response.body_truncated];
  };
  expect([await answered(one, 1024), await usedOf(one, 'answers')]).toEqual([[1024, [], false], 0]);
  expect([await answered(one, 1025), await usedOf(one, 'answers')]).toEqual([[1025, [], false], 1025]);
  await use(one, 'answers', 99_998_900);
  expect([await answered(one, 1101), await usedOf(one, 'answers')]).toEqual([[1024, [], true], 99_998_900]);
  // Headers take half of it at most, and the last one says that it is cut.
  expect(await answered(one, 600, headers)).toEqual([505, [93, 413], true]);
  expect(await answered(one, 500, headers)).toEqual([500, [93, 413], false]);
  expect([await answered(one, 1100), await usedOf(one, 'answers')]).toEqual([[1100, [], false], 100_000_000]);
  expect(await answered(other, 1101)).toEqual([1101, [], false]);
  await use(one, 'answers', 100_000_000, `${TODAY} - 1`);
  expect([await answered(one, 1101), await usedOf(one, 'answers')]).toEqual([[1101, [], false], 1101]);
});
