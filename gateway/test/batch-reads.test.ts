// Details that several requests read at the same moment, against a real service.
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { ApiError, resource, type Operation } from '@truckroll/contract';
import { GetInvoiceRequest, GetInvoiceResponse, Invoice } from '@truckroll/contract/gen/billing/v1/invoices';
import { RecordReadServiceService, type BatchGetRecordsRequest, type RecordRead } from '@truckroll/contract/gen/records/v1/record_reads';
import { createGrpcServer, openChannel, type Channel, type GrpcServer } from '@truckroll/grpc';
import { createMetrics, silentLog, startTracing } from '@truckroll/telemetry';
import { startCollector, testCaller, testConfig } from '@truckroll/testing';
import { batchReads, isBatchable, type BatchRead } from '../src/batch-reads.ts';
import { request, startGateway } from './support/gateway.ts';
import { invoice } from './support/invoice.ts';
import { operation } from './support/operation.ts';

const invoices = resource('invoices');
const ALONE = 'asked for by itself';
/** Number of invoices that the service leaves out of batches. */
const LARGE = 'LARGE';

/** An encoded request for an invoice of a new company. */
function asking(id: string): Buffer {
  return Buffer.from(GetInvoiceRequest.encode({ key: { company_id: randomUUID(), time_zone: 'America/Chicago', id } }).finish());
}

describe('details read in one turn of the event loop', () => {
  let server: GrpcServer;
  let channel: Channel;
  let read: BatchRead;
  let asked: BatchGetRecordsRequest[];
  let failure: Error | undefined;
  let known: Invoice[];

  /** `serves` is false for a service of a release that does not know batches. */
  async function start(serves: boolean): Promise<void> {
    [asked, failure, known] = [[], undefined, Array.from({ length: 70 }, () => invoice())];
    server = createGrpcServer({ log: silentLog, metrics: createMetrics('test'), callers: { accepted: testConfig.callerCredentials } });
    if (serves) {
      server.implement(RecordReadServiceService, {
        batchGetRecords: (batch) => {
          asked.push(batch);
          if (failure !== undefined) throw failure;
          const found = batch.keys.map(({ id }) => known.find((each) => each.id === id));
          const readOf = (data: Invoice): RecordRead => (data.number === LARGE ? { alone: true } : { data: Buffer.from(Invoice.encode(data).finish()) });
          return { reads: found.map((data) => (data === undefined ? {} : readOf(data))) };
        },
      });
    }
    channel = openChannel(`127.0.0.1:${await server.listen(0, '127.0.0.1')}`, { credentials: [testCaller('gateway')] });
    await channel.check();
    read = batchReads(channel, invoices);
  }
  afterEach(async () => {
    channel.close();
    await server.drain(1000);
  });

  /** Runs `work` while another read is under way. That read comes first, so it is sent separately. */
  async function beside<T>(work: () => Promise<T>): Promise<T> {
    const first = Promise.withResolvers<Buffer>();
    const under = read(asking(randomUUID()), () => first.promise);
    try {
      return await work();
    } finally {
      first.resolve(Buffer.alloc(0));
      await under;
    }
  }
  const readAll = (ids: readonly string[]): Promise<PromiseSettledResult<Buffer>[]> =>
    Promise.allSettled(ids.map((id) => read(asking(id), async () => Buffer.from(ALONE))));
  const idsOf = (answers: readonly PromiseSettledResult<Buffer>[]) =>
    answers.map((answer) => answer.status === 'fulfilled' && GetInvoiceResponse.decode(answer.value).data?.id);
  const leftAlone = (answers: readonly PromiseSettledResult<Buffer>[]) =>
    answers.map((answer) => answer.status === 'fulfilled' && answer.value.toString() === ALONE);

  test('go together, also of different companies, and each gets its own answer', async () => {
    await start(true);
    const [first, second] = known as [Invoice, Invoice];
    const answers = await beside(() => readAll([first.id, randomUUID(), second.id]));
    expect(asked.map(({ path, keys }) => [path, keys.length])).toEqual([['invoices', 3]]);
    expect(new Set(asked[0]!.keys.map(({ company_id: companyId }) => companyId)).size).toBe(3);
    expect(idsOf(answers)).toEqual([first.id, false, second.id]);
    expect(answers[1]).toMatchObject({ reason: { status: 404, code: 'NOT_FOUND', message: ApiError.notFound().message } });
  });

  test('are split into several calls if there are many', async () => {
    await start(true);
    const ids = known.map(({ id }) => id);
    expect(idsOf(await beside(() => readAll(ids)))).toEqual(ids);
    expect(asked.map(({ keys }) => keys.length).toSorted((a, b) => a - b)).toEqual([6, 32, 32]);
  });

  test('use their own rpc if the service finds them too large for a batch', async () => {
    await start(true);
    known[1]!.number = LARGE;
    const answers = await beside(() => readAll(known.slice(0, 3).map(({ id }) => id)));
    expect(leftAlone(answers)).toEqual([false, true, false]);
    expect(asked).toHaveLength(1);
  });

  test('use their own rpc if there is only one, or if no other call is under way', async () => {
    await start(true);
    expect(leftAlone(await beside(() => readAll([known[0]!.id])))).toEqual([true]);
    expect(leftAlone(await readAll([known[1]!.id]))).toEqual([true]);
    expect(asked).toEqual([]);
  });

  test.each([
    ['of a service of an older release', false, undefined],
    ['of which one cannot be read', true, new Error('a record that no reader understands')],
  ])('%s use their own rpc, and are not batched again at once', async (_, serves, thrown) => {
    await start(serves);
    failure = thrown;
    const pair = known.slice(0, 2).map(({ id }) => id);
    expect(leftAlone(await beside(() => readAll(pair)))).toEqual([true, true]);
    failure = undefined;
    expect(leftAlone(await beside(() => readAll(pair)))).toEqual([true, true]);
    expect(asked).toHaveLength(thrown === undefined ? 0 : 1);
  });

  test('are batched again ten seconds after a batch failed', async () => {
    await start(true);
    failure = new Error('a record that no reader understands');
    const pair = known.slice(0, 2).map(({ id }) => id);
    const clock = jest.spyOn(performance, 'now');
    const at = performance.now();
    try {
      clock.mockReturnValue(at);
      await beside(() => readAll(pair));
      failure = undefined;
      clock.mockReturnValue(at + 9999);
      expect(leftAlone(await beside(() => readAll(pair)))).toEqual([true, true]);
      clock.mockReturnValue(at + 10_000);
      expect(idsOf(await beside(() => readAll(pair)))).toEqual(pair);
      expect(asked).toHaveLength(2);
    } finally {
      clock.mockRestore();
    }
  });

  test.each([
    ['was answered', undefined],
    ['failed', ApiError.unavailable(new Error('away'))],
  ])('use their own rpc again once a batch %s and no call is under way', async (_, thrown) => {
    await start(true);
    const pair = known.slice(0, 2).map(({ id }) => id);
    failure = thrown;
    await beside(() => readAll(pair));
    // The second of two reads has company only in the first, so it makes no batch.
    expect(leftAlone(await readAll(pair))).toEqual([true, true]);
    expect(asked).toHaveLength(1);
  });

  test.each([
    ['fewer', (answer: Buffer) => answer.subarray(0, answer.length / 2)],
    ['more', (answer: Buffer) => Buffer.concat([answer, answer])],
  ])('all use their own rpc if the answer has %s records than were asked for', async (_, changed) => {
    await start(true);
    // Two reads of one record, so that both halves of the answer are the same.
    const twice = [known[0]!.id, known[0]!.id];
    const call: Channel['call'] = async (...args) => changed(await channel.call(...args));
    read = batchReads({ ...channel, call }, invoices);
    expect(leftAlone(await beside(() => readAll(twice)))).toEqual([true, true]);
  });

  test('are marked as repeatable, so that they are requested once more if the connection drops', async () => {
    await start(true);
    const repeatable: unknown[] = [];
    const call: Channel['call'] = (path, bytes, options) => {
      repeatable.push(options?.repeatable);
      return channel.call(path, bytes, options);
    };
    read = batchReads({ ...channel, call }, invoices);
    await beside(() => readAll(known.slice(0, 2).map(({ id }) => id)));
    expect(repeatable).toEqual([true]);
  });

  test('all fail if the service is unavailable', async () => {
    await start(true);
    failure = ApiError.unavailable(new Error('PostgreSQL is away'), 7);
    const pair = known.slice(0, 2).map(({ id }) => id);
    const reason = expect.objectContaining({ status: 503, retryAfterSeconds: 7 });
    expect(await beside(() => readAll(pair))).toEqual(pair.map(() => ({ status: 'rejected', reason })));
    // The next batch is tried at once, because a 503 says nothing about batches.
    failure = undefined;
    expect(idsOf(await beside(() => readAll(pair)))).toEqual(pair);
  });
});

test('batches only details whose request is a key', () => {
  expect(isBatchable(invoices.detail)).toBe(true);
  expect(isBatchable(invoices.list)).toBe(false);
  // A delivery is found by its endpoint, too.
  expect(isBatchable(operation('GetWebhookDelivery'))).toBe(false);
  const { detail } = invoices;
  const [key] = detail.request.fields;
  for (const changed of [
    { kind: 'list' },
    { request: { ...detail.request, fields: [{ ...key, number: 2 }] } },
    { request: { ...detail.request, fields: [key, key] } },
  ])
    expect(isBatchable({ ...detail, ...changed } as Operation)).toBe(false);
});

test('answers details of different companies in one batch as it answers them separately', async () => {
  const gateway = await startGateway();
  try {
    gateway.invoices.data = Array.from({ length: 20 }, (_, index) => invoice({ number: `INV-${index}` }));
    const keys = [gateway.key, gateway.identities.addKey().key];
    const ids = [...gateway.invoices.data.map(({ id }) => id), randomUUID()];
    // Makes the callers known, so that nothing is awaited before the call.
    for (const key of keys) await request(`${gateway.url}/v1/invoices/${randomUUID()}`, { headers: { authorization: `Bearer ${key}` } });
    const answers = await pipelined(
      gateway.url,
      ids.map((id, index) => ({ path: `/v1/invoices/${id}`, key: keys[index % 2] as string })),
    );
    expect(answers.map(({ data, error }) => data?.number ?? error.code)).toEqual([...gateway.invoices.data.map(({ number }) => number), 'NOT_FOUND']);
    expect(new Set(answers.map(({ meta, error }) => meta?.request_id ?? error.request_id)).size).toBe(ids.length);
    expect(gateway.invoices.together).toBeGreaterThan(1);
  } finally {
    await gateway.stop();
  }
});

test('while tracing, details that are sampled go one by one, and the others together', async () => {
  process.env['OTEL_TRACES_SAMPLER'] = 'parentbased_always_off';
  const collector = await startCollector();
  const stop = await startTracing('gateway', { otlpEndpoint: collector.url }, silentLog);
  const gateway = await startGateway();
  try {
    gateway.invoices.data = Array.from({ length: 20 }, () => invoice());
    await gateway.get(`/v1/invoices/${randomUUID()}`);
    const traces = gateway.invoices.data.map((_, index) => (index % 2 === 0 ? undefined : randomUUID().replaceAll('-', '')));
    await pipelined(
      gateway.url,
      gateway.invoices.data.map(({ id }, index) => {
        const trace = traces[index];
        return { path: `/v1/invoices/${id}`, key: gateway.key, ...(trace === undefined ? {} : { traceparent: `00-${trace}-b7ad6b7169203331-01` }) };
      }),
    );
    expect(gateway.invoices.together).toBeGreaterThan(1);
  } finally {
    await gateway.stop();
    await stop();
    collector.close();
    delete process.env['OTEL_TRACES_SAMPLER'];
  }
  const calls = collector.spans.filter(({ name }) => name.endsWith('/GetInvoice'));
  expect(new Set(calls.map(({ traceId }) => traceId)).size).toBe(10);
});

/** Sends requests in one write, before any is answered. Returns the bodies of their answers. */
async function pipelined(url: string, requests: readonly { path: string; key: string; traceparent?: string }[]): Promise<any[]> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const head = ({ path, key, traceparent }: (typeof requests)[number], index: number): string =>
    `GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${key}\r\n${traceparent === undefined ? '' : `traceparent: ${traceparent}\r\n`}${index === requests.length - 1 ? 'Connection: close\r\n' : ''}\r\n`;
  socket.write(requests.map(head).join(''));
  const text = (await socket.toArray()).join('');
  return text
    .split(/HTTP\/1\.1 \d{3} [^]*?\r\n\r\n/)
    .slice(1)
    .map((body) => JSON.parse(body));
}
