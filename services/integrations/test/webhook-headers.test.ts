// Custom headers of an endpoint: their values go to the endpoint and are shown nowhere (decisions §15).
import { refusal } from './harness.ts';
import { startDesk } from './webhooks.ts';

let desk: Awaited<ReturnType<typeof startDesk>>;
beforeAll(async () => void (desk = await startDesk()), 60_000);
afterEach(() => desk.sql('delete from webhook_queue'));
afterAll(() => desk.stop());

type Endpoint = Awaited<ReturnType<typeof desk.endpoint>>;
type Given = { name: string; value?: string | null }[];

const KEY = { name: 'X-Api-Key', value: 'key of the receiver' };
const REGION = { name: 'X-Region', value: 'south' };
const withHeaders = (values: Given) => desk.endpoint({ headers: { values } });
const change = (one: Endpoint, values: Given) => one.update({ headers: { values } });
const namesOf = async (one: Endpoint) => (await one.read()).headers.map(({ name }) => name);

async function sentBy(one: Endpoint) {
  const stored = await desk.deliveries.fanOut({ events: [one.event()], dead_letter_ids: [], lease: desk.asked({}) });
  await desk.sql('update webhook_queue set leased_until = now()');
  const [later] = await desk.lease();
  await desk.sql('delete from webhook_queue');
  expect(stored.deliveries[0]!.headers).toEqual(later!.headers);
  return later!.headers;
}

test('are sent with every delivery, shown by name, and stored encrypted', async () => {
  const one = await withHeaders([KEY, REGION]);
  expect(await namesOf(one)).toEqual(['X-Api-Key', 'X-Region']);
  expect(await sentBy(one)).toEqual([KEY, REGION]);
  const [row] = await desk.sql('select header_values from webhook_endpoints where id = $1', [one.id]);
  expect((row!['header_values'] as Buffer).includes(KEY.value)).toBe(false);
  const trail = await desk.sql('select e::text as entry from audit_events e where company_id = $1', [one.company.id]);
  expect(trail.map(({ entry }) => entry as string).join()).toContain('X-Api-Key');
  expect(trail.map(({ entry }) => entry as string).join()).not.toContain(KEY.value);
});

test('keep the value of a name sent without one, in any spelling, and drop names that are not sent', async () => {
  const one = await withHeaders([KEY, REGION]);
  await one.update({ name: 'Another name' });
  expect(await sentBy(one)).toEqual([KEY, REGION]);
  await change(one, [{ name: 'x-api-key' }, { name: 'X-New', value: 'new' }]);
  expect(await sentBy(one)).toEqual([
    { name: 'x-api-key', value: KEY.value },
    { name: 'X-New', value: 'new' },
  ]);
  await change(one, [{ name: 'x-api-key', value: 'another' }]);
  expect(await sentBy(one)).toEqual([{ name: 'x-api-key', value: 'another' }]);
  await change(one, []);
  expect([await namesOf(one), await sentBy(one)]).toEqual([[], []]);
});

test.each<[string, Given, string, string]>([
  ['a new name without a value', [KEY, { name: 'X-Other' }], 'headers[1].value', 'MISSING'],
  ['more than 4 KB together', [KEY, { name: 'X-Long', value: 'x'.repeat(4063) }].toReversed(), 'headers', 'TOO_LARGE'],
])('are refused with %s', async (_, values, field, code) => {
  const one = await withHeaders([KEY]);
  expect((await refusal(change(one, values))).details).toMatchObject([{ field, code }]);
  expect(await sentBy(one)).toEqual([KEY]);
});

const OLD = { name: 'X-Old', value: 'left out below' };
test.each<[string, string, Given | undefined, string[]]>([
  ['another path', 'https://example.com/other?a=1', undefined, []],
  ['another host', 'https://example.org/hook', undefined, ['headers X-Api-Key', 'headers X-Region', 'headers X-Old']],
  ['a host below', 'https://a.example.com/hook', [{ name: 'x-API-key' }, REGION], ['headers[0].value x-API-key']],
])('%s of the URL asks again for the values that stay', async (_, url, values, missing) => {
  const one = await withHeaders([KEY, REGION, OLD]);
  const changed = one.update({ url, ...(values && { headers: { values } }) });
  if (missing.length === 0) return void (await changed);
  const { details } = (await refusal(changed)) as { details: { field: string; code: string; message?: string }[] };
  expect(details.map(({ field, code, message = '' }) => `${code} ${field} ${/the value of (\S+) again/.exec(message)?.[1]}`)).toEqual(
    missing.map((each) => `MISSING ${each}`),
  );
  expect([(await one.read()).url, await sentBy(one)]).toEqual(['https://example.com/hook', [KEY, REGION, OLD]]);
});

test('cannot be exchanged for the signing secret in the database', async () => {
  const one = await withHeaders([KEY]);
  await desk.sql('update webhook_endpoints set secret = header_values where id = $1', [one.id]);
  await desk.fanOut(one.event());
  expect((await refusal(desk.lease())).status).toBe(500);
});
