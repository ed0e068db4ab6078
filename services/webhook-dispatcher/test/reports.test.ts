import { randomUUID } from 'node:crypto';
import { ApiError } from '@truckroll/contract';
import { AttemptError, type ReportRequest } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { silentLog } from '@truckroll/telemetry';
import { createReport } from '../src/log/report.ts';
import { stored } from './support/worker.ts';

const attempt = (): ReportRequest => ({
  delivery_id: randomUUID(),
  lease_token: randomUUID(),
  response_status: 200,
  error: AttemptError.UNSPECIFIED,
  error_message: '',
  started_at: 0,
  ended_at: 0,
  request_headers: [],
  response_headers: [],
  response_body: Buffer.alloc(0),
  response_truncated: false,
  retry_after_seconds: null,
  resolved_address: null,
});
const never = new AbortController().signal;

test('stores attempts that end together in one call, and returns each its own answer', async () => {
  const batches: number[] = [];
  const report = createReport({
    report: () => Promise.reject(new Error('nothing is reported alone')),
    reportAll: async ({ attempts }) => {
      batches.push(attempts.length);
      return { answers: attempts.map(({ delivery_id }) => ({ ...stored, lease_lost: delivery_id === lost.delivery_id })) };
    },
    log: silentLog,
  });
  const lost = attempt();
  const answers = await Promise.all([attempt(), lost, ...Array.from({ length: 118 }, attempt)].map((each) => report(each, never)));
  expect(answers.map(({ lease_lost }) => lease_lost)).toEqual([false, true, ...Array<boolean>(118).fill(false)]);
  expect(batches).toEqual([100, 20]);
});

test('retries the attempts of a failed batch one by one, so that an invalid one does not block the others', async () => {
  const broken = attempt();
  const alone: string[] = [];
  let refusals = 2;
  const report = createReport({
    reportAll: () => Promise.reject(ApiError.internal(new Error('one of them is broken'))),
    report: async ({ delivery_id }) => {
      if (delivery_id === broken.delivery_id) throw ApiError.invalid([]);
      if (refusals-- > 0) throw ApiError.unavailable(undefined);
      alone.push(delivery_id);
      return stored;
    },
    log: silentLog,
  });
  const others = [attempt(), attempt()];
  const results = await Promise.allSettled([others[0]!, broken, others[1]!].map((each) => report(each, never)));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(alone.toSorted()).toEqual(others.map(({ delivery_id }) => delivery_id).toSorted());
});

test('gives up an attempt whose delivery no longer exists', async () => {
  const unknown = { ...stored, unknown: true };
  const report = createReport({
    report: () => Promise.reject(new ApiError('NOT_FOUND', 'No such delivery.')),
    reportAll: async () => ({ answers: [unknown] }),
    log: silentLog,
  });
  await expect(report(attempt(), never)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('counts the bytes of an answer, its headers included, towards what one call can carry', async () => {
  const MEGABYTE = 1024 * 1024;
  const batches: number[] = [];
  const report = createReport({
    report: () => Promise.reject(new Error('nothing is reported alone')),
    reportAll: async ({ attempts }) => {
      batches.push(attempts.length);
      return { answers: attempts.map(() => stored) };
    },
    log: silentLog,
  });
  const large = (body: number, value: number): ReportRequest => ({
    ...attempt(),
    response_body: Buffer.alloc(body),
    response_headers: [{ name: 'x'.repeat(100), value: 'y'.repeat(value) }],
  });
  const exactly = large(MEGABYTE - 1100, 1000);
  await Promise.all([exactly, exactly, large(MEGABYTE - 1100, 1001), exactly].map((each) => report(each, never)));
  expect(batches).toEqual([2, 1, 1]);
});

test('stops trying to store an attempt when it is aborted', async () => {
  const stopping = new AbortController();
  let tries = 0;
  const report = createReport({
    report: () => {
      tries += 1;
      stopping.abort(new Error('stopping'));
      return Promise.reject(ApiError.unavailable(undefined));
    },
    reportAll: () => Promise.reject(ApiError.unavailable(undefined)),
    log: silentLog,
  });
  await expect(report(attempt(), stopping.signal)).rejects.toMatchObject({ status: 503 });
  expect(tries).toBe(1);
});
