import { ApiError } from '@truckroll/contract';
import { ImportServiceService, type ImportRequest, type ImportResponse } from '@truckroll/contract/gen/records/v1/records';
import { createGrpcServer, openChannel } from '@truckroll/grpc';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { openProxy, testCallers, testConfig } from '@truckroll/testing';
import fc from 'fast-check';
import { deliver, type ImportStream, type ImportCall } from '../src/import/send.ts';
import type { Batch } from '../src/import/lines.ts';

async function* manyBatches(count: number): AsyncGenerator<Batch> {
  for (let n = 0; n < count; n += 1) yield { firstLine: n * 2 + 1, lines: [Buffer.from(`${n}a`), Buffer.from(`${n}b`)], readBytes: n };
}

const answerTo = (request: ImportRequest): ImportResponse => ({
  first_line: request.first_line,
  lines: request.lines.length,
  created: request.lines.length,
  changed: 0,
  unchanged: 0,
  problems: [],
});

async function collect(count: number, call: ImportCall, more: Partial<ImportStream> = {}): Promise<number[]> {
  const delivery = { companyId: 'c', path: 'invoices', call, signal: new AbortController().signal, ...more };
  const lines: number[] = [];
  for await (const { batch, answer } of deliver(manyBatches(count), delivery)) {
    expect(answer.first_line).toBe(batch.firstLine);
    lines.push(batch.firstLine);
  }
  return lines;
}

const inOrder = (count: number): number[] => Array.from({ length: count }, (_, n) => n * 2 + 1);

test('delivers every batch once and in order, wherever streams break', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 20 }), fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 2 }), async (count, breaks) => {
      const left = [...breaks];
      const stored = new Set<number>();
      const call: ImportCall = async function* (requests) {
        let until = left.shift() ?? Infinity;
        for await (const request of requests) {
          stored.add(request.first_line);
          // Stored, but the answer is lost: sending again is necessary and harmless.
          if (until-- <= 0) throw ApiError.unavailable(undefined);
          yield answerTo(request);
        }
      };
      expect(await collect(count, call)).toEqual(inOrder(count));
      expect([...stored].sort((a, b) => a - b)).toEqual(inOrder(count));
    }),
    { numRuns: 20 },
  );
});

test('keeps at most four batches in flight', async () => {
  let open = 0;
  let most = 0;
  const call: ImportCall = async function* (requests) {
    const waiting: ImportRequest[] = [];
    const source = requests[Symbol.asyncIterator]();
    let next = source.next();
    for (;;) {
      // Takes all that the sender is willing to send before any answer.
      const got = await Promise.race([next, new Promise<undefined>((resolve) => setImmediate(resolve, undefined))]);
      if (got?.done === false) {
        waiting.push(got.value);
        most = Math.max(most, (open += 1));
        next = source.next();
      } else if (waiting.length > 0) {
        open -= 1;
        yield answerTo(waiting.shift() as ImportRequest);
      } else if (got?.done === true) return;
    }
  };
  expect(await collect(30, call)).toEqual(inOrder(30));
  expect(most).toBe(4);
});

test('ends at once on a rejection, and after a while if the owner stays unavailable', async () => {
  let calls = 0;
  const failing = (error: unknown): ImportCall =>
    async function* (requests) {
      calls += 1;
      for await (const request of requests) {
        if (request.first_line === 1) throw error;
        yield answerTo(request);
      }
    };
  await expect(collect(3, failing(ApiError.notFound()))).rejects.toMatchObject({ status: 404 });
  expect(calls).toBe(1);
  let waits = 0;
  await expect(collect(3, failing(ApiError.unavailable(undefined)), { maxRetryMs: 500, onWaiting: () => (waits += 1) })).rejects.toMatchObject({ status: 503 });
  expect(waits).toBe(1);
});

test('goes on for as long as the owner answers something between outages', async () => {
  const stored: number[] = [];
  const call: ImportCall = async function* (requests) {
    for await (const request of requests) {
      stored.push(request.first_line);
      yield answerTo(request);
      throw ApiError.unavailable(undefined);
    }
  };
  // Each outage is short, and all together last longer than one may.
  expect(await collect(6, call, { maxRetryMs: 300 })).toEqual(inOrder(6));
  expect(stored).toEqual(inOrder(6));
});

test('ends when it is interrupted', async () => {
  const stop = new AbortController();
  const call: ImportCall = async function* (requests) {
    for await (const request of requests) {
      if (request.first_line > 5) stop.abort();
      stop.signal.throwIfAborted();
      yield answerTo(request);
    }
  };
  await expect(collect(10, call, { signal: stop.signal })).rejects.toMatchObject({ name: 'AbortError' });
});

test('delivers all lines over a real connection that is cut again and again', async () => {
  const stored = new Set<string>();
  let cut = async (): Promise<void> => undefined;
  const server = createGrpcServer({ log: silentLog, metrics: createMetrics('test'), callers: { accepted: testConfig.callerCredentials } });
  server.implement(ImportServiceService, {
    async *import(requests) {
      for await (const request of requests) {
        for (const line of request.lines) stored.add(String(line));
        if ([21, 41, 81].includes(request.first_line) && !stored.has(`cut ${request.first_line}`)) {
          stored.add(`cut ${request.first_line}`);
          await cut();
        }
        yield answerTo(request);
      }
    },
    checkImport() {
      throw new Error('this test tries no import');
    },
  });
  const port = await server.listen(0, '127.0.0.1');
  const proxy = await openProxy({ host: '127.0.0.1', port });
  cut = async () => {
    await proxy.cut();
    await proxy.restore();
  };
  const channel = openChannel(`127.0.0.1:${proxy.port}`, { credentials: testCallers });
  try {
    expect(await collect(60, channel.client(ImportServiceService).import)).toEqual(inOrder(60));
    expect([...stored].filter((line) => !line.startsWith('cut')).length).toBe(120);
  } finally {
    channel.close();
    await proxy.close();
    await server.drain(100);
  }
});
