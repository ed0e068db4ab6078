// How the gateway composes the change feed, with a stand-in for the service that owns invoices.
import { createClient } from '@redis/client';
import { ChangeServiceService, type AwaitedChange, type ChangePosition, type ReadChangesRequest } from '@truckroll/contract/gen/records/v1/changes';
import { createGrpcServer, type GrpcServer } from '@truckroll/grpc';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { testConfig } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { redisUrl, request, startGateway, untilMetric, type Answer, type TestGateway } from './support/gateway.ts';

const { spyOn } = jest;
const FEED = '/api/v1/integrations/changes';
let server: GrpcServer;
let port: number;
let gateway: TestGateway;
let reads = 0;
/** Reads are answered when it resolves. */
let gate: Promise<void> | undefined;
/** While true, calls that ask for changes are not answered. */
let quiet = false;
/** While true, they are answered that nothing has changed. */
let idle = false;
const unanswered: (() => void)[] = [];
const awaited: AwaitedChange[][] = [];
const asked: ReadChangesRequest[] = [];

/** While true, reads say that there is more. */
let unfinished = false;
/** A company of which everything has been read, but fewer of its payments than of other kinds. */
const end = ({ kind }: ChangePosition): ChangePosition => ({ kind, version: kind === 'payments' ? 50 : 100, after_kind: '', after_id: '', began_at: 100 });

beforeAll(async () => {
  server = createGrpcServer({ log: silentLog, metrics: createMetrics('test'), callers: { accepted: testConfig.callerCredentials } });
  server.implement(ChangeServiceService, {
    readChanges: async (request) => {
      const { positions } = request;
      reads += 1;
      asked.push(request);
      await gate;
      return { changes: [], positions: positions.map(end), epoch: 0, more: unfinished, as_of: 1, placed: true };
    },
    digestRecords: () => ({ digests: [], as_of: 1 }),
    findChanged: async (request) => {
      awaited.push(request.awaited);
      if (quiet) await new Promise<void>((answer) => unanswered.push(answer));
      if (idle) return { changed: [], below: 200, belows: [], as_of: 3 };
      return { as_of: 2, belows: [], changed: request.awaited.map(({ version }, place) => ({ place, version })) };
    },
  });
  port = await server.listen(0, '127.0.0.1');
  server.setServing(true);
  gateway = await startGateway({ BILLING_ADDRESS: `127.0.0.1:${port}` });
});
afterAll(async () => {
  await gateway.stop();
  await server.drain(100);
});

test('a poll whose client leaves while its read runs is not held', async () => {
  let open = (): void => undefined;
  gate = new Promise((resolve) => (open = resolve));
  const client = new AbortController();
  const left = gateway.get(`${FEED}?kinds=invoices&wait=30`, { signal: client.signal }).catch(() => 'left');
  await until('the read of the poll', () => reads === 1);
  client.abort();
  await left;
  // The gateway has noticed when it serves a request that came later.
  const later = gateway.get(`${FEED}?kinds=payments&wait=0`);
  await until('the read of the later request', () => reads === 2);
  open();
  gate = undefined;
  expect((await later).status).toBe(200);
  // Calls arrive in order, so one that asks for changes would have arrived before this read.
  await gateway.get(`${FEED}?kinds=payments&wait=0`);
  expect(awaited).toEqual([]);
});

test('a kind without records has changed since no cursor, and not since a cursor that has read it', async () => {
  const changed = async (query: string): Promise<unknown> => {
    const { status, body } = await gateway.get(`${FEED}/digest?${query}`);
    return [status, body.data.map(({ kind, count, changedSince }: Record<string, unknown>) => [kind, count, changedSince])];
  };
  expect(await changed('kinds=invoices')).toEqual([200, [['invoices', 0, true]]]);
  const { body } = await gateway.get(`${FEED}?kinds=invoices`);
  const read = await changed(`kinds=invoices&kinds=payments&cursor=${body.nextCursor}`);
  expect(read).toEqual([
    200,
    [
      ['invoices', 0, false],
      ['payments', 0, true],
    ],
  ]);
});

test('of polls of a company at two gateways, 20 are held, and the next one after one of them has ended', async () => {
  const other = await startGateway({ BILLING_ADDRESS: `127.0.0.1:${port}` }, { identities: gateway.identities, invoices: gateway.invoices });
  const redis = await createClient({ url: redisUrl() }).connect();
  const slots = (count: number): Promise<boolean> =>
    until(`${count} taken slots`, async () => (await redis.zCard(`truckroll:polls:${gateway.companyId}`)) === count);
  try {
    for (const each of [gateway, other]) await untilMetric(each, 'gateway_redis_up', 1);
    quiet = true;
    const poll = (url: string, client = new AbortController()): Promise<Answer> =>
      request(`${url}${FEED}?kinds=invoices&wait=30`, { headers: { authorization: `Bearer ${gateway.key}` }, signal: client.signal });
    const clients = Array.from({ length: 21 }, () => new AbortController());
    const ended: string[] = [];
    const hold = (client: AbortController, index: number): Promise<unknown> =>
      poll([gateway, other][index % 2]!.url, client)
        .then(() => ended.push('answered'))
        .catch(() => ended.push('left'));
    const ends = clients.slice(0, 20).map(hold);
    await slots(20);
    const { status, body } = await poll(other.url);
    expect([status, body.data, ended]).toEqual([200, [], []]);
    clients[0]!.abort();
    await slots(19);
    ends.push(hold(clients[20]!, 20));
    await slots(20);
    expect(ended).toEqual(['left']);
    for (const client of clients) client.abort();
    await Promise.all(ends);
    await slots(0);
    quiet = false;
    unanswered.splice(0).forEach((answer) => answer());
  } finally {
    redis.destroy();
    await other.stop();
  }
});

test('a gateway that stops answers the polls that it holds', async () => {
  const other = await startGateway({ BILLING_ADDRESS: `127.0.0.1:${port}` }, { identities: gateway.identities, invoices: gateway.invoices });
  quiet = true;
  const poll = request(`${other.url}${FEED}?kinds=invoices&wait=30`, { headers: { authorization: `Bearer ${gateway.key}` } });
  await until('the service to be asked', () => unanswered.length > 0);
  await other.stop();
  const { status, body } = await poll;
  expect([status, body.data]).toEqual([200, []]);
  quiet = false;
  unanswered.splice(0).forEach((answer) => answer());
});

test('an idle poll is read once, also when it is repeated', async () => {
  idle = true;
  reads = 0;
  const poll = (query: string): Promise<Answer> => gateway.get(`${FEED}?kinds=invoices&wait=1${query}`);
  const first = await poll('');
  expect([first.status, first.body.data, first.body.hasMore, first.body.asOf]).toEqual([200, [], false, '1970-01-01T00:00:00.000003Z']);
  const second = await poll(`&cursor=${first.body.nextCursor}`);
  expect([second.status, second.body.data, reads]).toEqual([200, [], 1]);
  // Other kinds have not been read, and an answer that does not wait is read.
  await poll(`&kinds=payments&cursor=${second.body.nextCursor}`);
  expect(reads).toBe(2);
  await gateway.get(`${FEED}?kinds=invoices&cursor=${second.body.nextCursor}`);
  expect(reads).toBe(3);
  idle = false;
});

test('an idle poll is repeated without a read within 5 s of its answer, and is read after that', async () => {
  idle = true;
  reads = 0;
  // Whole, so that differences are exact.
  let at = Math.ceil(performance.now());
  const elapsed = spyOn(performance, 'now').mockImplementation(() => at);
  try {
    const poll = async (query: string): Promise<string> => {
      const { status, body } = await gateway.get(`${FEED}?kinds=invoices&wait=1${query}`);
      expect([status, body.data]).toEqual([200, []]);
      return `&cursor=${body.nextCursor}`;
    };
    const first = await poll('');
    at += 5000;
    const second = await poll(first);
    expect(reads).toBe(1);
    at += 5001;
    await poll(second);
    expect(reads).toBe(2);
  } finally {
    elapsed.mockRestore();
    idle = false;
  }
});

test('a repeated idle poll is read when something has changed', async () => {
  idle = true;
  const first = await gateway.get(`${FEED}?kinds=invoices&wait=1`);
  [idle, reads] = [false, 0];
  const { status } = await gateway.get(`${FEED}?kinds=invoices&wait=1&cursor=${first.body.nextCursor}`);
  expect([status, reads > 0]).toEqual([200, true]);
});

test('a poll awaits the first version that it has not read of any of its kinds', async () => {
  idle = true;
  awaited.length = 0;
  await gateway.get(`${FEED}?kinds=invoices&kinds=payments&kinds=estimates&wait=1`);
  expect(awaited[0]).toMatchObject([{ company_id: gateway.companyId, kinds: ['estimates', 'invoices', 'payments'], version: 50 }]);
  idle = false;
});

test('an empty page with more to come is answered at once, and the next poll reads on', async () => {
  idle = unfinished = true;
  awaited.length = reads = 0;
  const first = await gateway.get(`${FEED}?kinds=invoices&wait=30`);
  // The last call of the poll before, for other kinds, may arrive late.
  const own = awaited.filter(([one]) => one?.kinds.length === 1);
  expect([first.body.data, first.body.hasMore, own, reads]).toEqual([[], true, [], 1]);
  unfinished = false;
  const second = await gateway.get(`${FEED}?kinds=invoices&wait=0&cursor=${first.body.nextCursor}`);
  expect([second.body.hasMore, reads]).toEqual([false, 2]);
  const third = await gateway.get(`${FEED}?kinds=invoices&wait=1&cursor=${first.body.nextCursor}`);
  expect([third.status, reads]).toEqual([200, 3]);
  idle = false;
});

test('a poll from now on skips the past once, and reads on from there when something has changed', async () => {
  idle = false;
  asked.length = 0;
  expect((await gateway.get(`${FEED}?kinds=invoices&cursor=now&wait=3`)).status).toBe(200);
  const [first, second] = asked.map(({ skip, positions }) => [skip, positions[0]?.version]);
  expect([first, second]).toEqual([
    [true, 0],
    [false, 100],
  ]);
  expect(new Set(asked.slice(1).map(({ skip }) => skip))).toEqual(new Set([false]));
});
