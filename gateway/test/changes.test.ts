// How the gateway composes the change feed, with a stand-in for the service that owns invoices.
import { ChangeServiceService, type AwaitedChange, type ChangePosition } from '@truckroll/contract/gen/records/v1/changes';
import { createGrpcServer, createMetrics, silentLog, testConfig, type GrpcServer } from '@truckroll/service-kit';
import { eventually, startGateway, type TestGateway } from './support/gateway.ts';

const FEED = '/api/v1/integrations/changes';
let server: GrpcServer;
let gateway: TestGateway;
let reads = 0;
/** Reads are answered when it resolves. */
let gate: Promise<void> | undefined;
const awaited: AwaitedChange[][] = [];

/** A company of which everything has been read. */
const end = ({ kind }: ChangePosition): ChangePosition => ({ kind, version: 100, after_kind: '', after_id: '', began_at: 100 });

beforeAll(async () => {
  server = createGrpcServer({ log: silentLog, metrics: createMetrics('test'), callers: { accepted: testConfig.callerCredentials } });
  server.implement(ChangeServiceService, {
    readChanges: async ({ positions }) => {
      reads += 1;
      await gate;
      return { changes: [], positions: positions.map(end), epoch: 0, more: false, as_of: 1 };
    },
    digestRecords: () => ({ digests: [], as_of: 1 }),
    findChanged: (request) => {
      awaited.push(request.awaited);
      return { changed: request.awaited.map((_, index) => index) };
    },
  });
  const port = await server.listen(0, '127.0.0.1');
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
  await eventually(() => reads === 1);
  client.abort();
  await left;
  // The gateway has noticed when it serves a request that came later.
  const later = gateway.get(`${FEED}?kinds=payments&wait=0`);
  await eventually(() => reads === 2);
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
