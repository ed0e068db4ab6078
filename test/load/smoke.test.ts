// A smoke test of the load suite without k6: every scenario against the whole system. Checks statuses and shapes, not latencies.
import { until } from '@truckroll/testing/until';
import { OPERATIONS, type World } from '../../loadtest/k6/scenarios/api.ts';
import { SCENARIOS, SCENARIO_NAMES, requestsOf } from '../../loadtest/k6/scenarios/index.ts';
import { discover, tidy } from '../../loadtest/k6/scenarios/world.ts';
import { nodeClient } from '../../loadtest/load/node-client.ts';
import { startSystem, type System, type TestCompany } from '../support/system.ts';

const TURNS = 8;
let system: System;
let usual: TestCompany;
let world: World;

beforeAll(async () => {
  system = await startSystem();
  usual = await system.createCompany();
  const empty = await system.createCompany();
  await system.importDemo(usual, 21, 60, '2026-06-30T18:00:00Z');
  // Reports answer 503 until the company's sums have been computed.
  await until(
    'a report to be built',
    () => system.get(usual, '/v1/reports/invoice-activity?start_date=2026-01-01&end_date=2027-01-01'),
    ({ status }) => status === 200,
  );
  // The usual company replaces the huge one, because size does not affect shapes.
  const credentials = { usual: usual.apiKey, huge: usual.apiKey, empty: empty.apiKey, userToken: system.userToken(usual) };
  world = await discover(nodeClient(system.baseUrl).send, credentials, 'smoke');
}, 120_000);
afterAll(() => system.stop());

test('finds data for everything its scenarios request', () => {
  expect(Object.entries(world.ids).filter(([, ids]) => ids.length === 0)).toEqual([]);
  expect(world.places.length).toBeGreaterThan(5);
});

test.each(SCENARIO_NAMES)('gets the expected answers in the scenario %s, with the number of requests planned for k6', async (name) => {
  const client = nodeClient(system.baseUrl);
  const own = {};
  for (let number = 0; number < TURNS; number++) await SCENARIOS[name].run(client, world, { number, own });
  expect(client.faults).toEqual([]);
  expect([...client.sent.values()].reduce((sum, count) => sum + count, 0)).toBe(TURNS * requestsOf(name));
  expect(Object.fromEntries(client.sent)).toEqual(
    Object.fromEntries(Object.entries(SCENARIOS[name].sends).map(([operation, sends]) => [operation, TURNS * sends])),
  );
});

test('has a scenario for each of its operations', () => {
  expect(SCENARIO_NAMES.flatMap((name) => Object.keys(SCENARIOS[name].sends)).toSorted()).toEqual(OPERATIONS.toSorted());
});

test('walks a list to its end and then starts another', async () => {
  const client = nodeClient(system.baseUrl);
  const own: Record<string, string | undefined> = {};
  const paths: (string | undefined)[] = [];
  for (let number = 0; number < 6; number++) {
    await SCENARIOS.list.run(client, world, { number: paths.at(-1) === undefined ? number : 0, own });
    paths.push(own['list path']);
  }
  // 60 jobs give at least two pages of invoices, so the first has a next page.
  expect(paths[0]).toBe('/v1/invoices?limit=50');
  expect(paths).toContain(undefined);
});

test('removes an assignment and an endpoint that a run left behind, and nothing else', async () => {
  const { send } = nodeClient(system.baseUrl);
  const place = world.places[0]!;
  const read = async () => JSON.parse(await send({ path: `/v1/job-appointments/${place.visitId}`, credential: usual.apiKey, expect: [200] })).data;
  const before = await read();
  const body = {
    expected_revision: before.revision,
    appointment_id: place.visitId,
    team_member_id: place.technicianId,
    starts_at: before.window_start_at,
    ends_at: before.window_end_at,
  };
  await send({ method: 'POST', path: '/v1/job-assignments', credential: usual.apiKey, body, idempotencyKey: 'interrupted', expect: [201] });
  const endpoints = '/api/v1/integrations/webhooks';
  const credential = world.credentials.userToken!;
  const endpoint = (name: string) =>
    ({
      method: 'POST',
      path: endpoints,
      credential,
      body: { name, url: 'https://receiver.example.com/hook', eventTypes: ['service_request.created'], enabled: false },
      expect: [201],
    }) as const;
  await send(endpoint('load smoke 7'));
  await send(endpoint('load of another user'));
  expect(await tidy(send, world)).toBe(2);
  expect((await read()).assignments).toEqual(before.assignments);
  const { data } = JSON.parse(await send({ path: endpoints, credential, expect: [200] }));
  expect(data.map(({ name }: { name: string }) => name)).toEqual(['load of another user']);
  expect(await tidy(send, world)).toBe(0);
});
