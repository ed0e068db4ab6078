// Overload: the limit of concurrent calls, the queues, and which companies are affected.
import { createMetrics, silentLog } from '@truckroll/service-kit';
import { AdaptiveLimit, INITIAL, LEAST, MOST } from '../src/admission/adaptive-limit.ts';
import { createAdmission } from '../src/admission/admission.ts';
import { eventually, request, startGateway, untilMetric } from './support/gateway.ts';

/** Reports windows of answers with this latency, and returns the limit. */
function answers(limit: AdaptiveLimit, milliseconds: number, { windows = 1, waited = true } = {}): number {
  for (let window = 0; window < windows; window++) {
    if (waited) limit.waited();
    for (let answer = 0; answer < 50; answer++) limit.ended(milliseconds);
  }
  return limit.limit;
}

describe('the limit of concurrent calls', () => {
  test('grows while callers wait and answers are fast', () => {
    const limit = new AdaptiveLimit();
    expect(answers(limit, 5, { windows: 10 })).toBe(INITIAL + 10);
    expect(answers(limit, 5, { windows: 10_000 })).toBe(MOST);
  });

  test('falls while callers wait and answers take over twice the unloaded latency, but never below the minimum', () => {
    const limit = new AdaptiveLimit();
    answers(limit, 5);
    expect(answers(limit, 20)).toBe(Math.floor((INITIAL + 1) * 0.9));
    expect(answers(limit, 20, { windows: 20 })).toBe(LEAST);
  });

  test('returns to its initial value if no call waits, however slow answers are', () => {
    const limit = new AdaptiveLimit();
    answers(limit, 5);
    expect(answers(limit, 500, { windows: 100, waited: false })).toBe(INITIAL);
    answers(limit, 500, { windows: 30 });
    expect(answers(limit, 5, { windows: 100, waited: false })).toBe(INITIAL);
  });

  test('adapts the unloaded latency when requests become slower', () => {
    const limit = new AdaptiveLimit();
    answers(limit, 5);
    answers(limit, 50, { windows: 300 });
    expect(limit.limit).toBeGreaterThan(LEAST);
  });

  test('queues what can start within a tenth of a second, but at least what a client sends at once', () => {
    const limit = new AdaptiveLimit();
    expect(limit.queue).toBe(100);
    answers(limit, 80, { windows: 1, waited: false });
    expect(limit.queue).toBe(80);
    answers(limit, 2000, { windows: 1, waited: false });
    expect(limit.queue).toBe(64);
    answers(limit, 1, { windows: 1, waited: false });
    expect(limit.queue).toBe(100);
  });
});

describe('a bulkhead', () => {
  const open = () => createAdmission(silentLog, createMetrics('test')).bulkhead('billing', 'reads');
  /** Waiting calls outlive the test and are rejected afterwards. */
  const enter = (bulkhead: ReturnType<typeof open>, name: string): 'begins' | 'waits' => {
    const turn = bulkhead.enter(name);
    turn?.catch(() => undefined);
    return turn === undefined ? 'begins' : 'waits';
  };

  test('is full for a company whose queue is full, and for no other', () => {
    const bulkhead = open();
    const turns = Array.from({ length: 148 }, () => enter(bulkhead, 'flood'));
    expect(turns.filter((turn) => turn === 'begins')).toHaveLength(48);
    expect(bulkhead.full('flood')).toBe(true);
    expect([bulkhead.refuses('flood'), bulkhead.refuses('other')]).toEqual([true, false]);
    expect(bulkhead.full('other')).toBe(false);
    expect(enter(bulkhead, 'other')).toBe('begins');
  });

  test('holds back a company whose errors take long, even if another sends more requests', async () => {
    const bulkhead = open();
    const ask = (name: string, milliseconds: number, right: boolean): void => {
      bulkhead.full(name);
      expect(enter(bulkhead, name)).toBe('begins');
      bulkhead.leave(name, milliseconds, right);
    };
    for (let answer = 0; answer < 20; answer++) ask('steady', 1, true);
    for (let error = 0; error < 10; error++) ask('wrong', 100, false);
    const turns = Array.from({ length: 20 }, () => enter(bulkhead, 'wrong'));
    for (let round = 0; round < 10; round++) {
      for (let answer = 0; answer < 10; answer++) ask('steady', 8, true);
      enter(bulkhead, 'wrong');
    }
    for (const turn of turns) if (turn === 'begins') bulkhead.leave('wrong', 100, false);
    await new Promise((resolve) => setImmediate(resolve));
    expect(Array.from({ length: 4 }, () => enter(bulkhead, 'wrong'))).not.toContain('begins');
    expect(enter(bulkhead, 'steady')).toBe('begins');
  });

  test('gives a company a quarter of the slots while another is active', () => {
    const bulkhead = open();
    expect(enter(bulkhead, 'other')).toBe('begins');
    const turns = Array.from({ length: 40 }, () => enter(bulkhead, 'flood'));
    expect(turns.filter((turn) => turn === 'begins')).toHaveLength(16);
  });

  test('allows each company one waiting call once very many calls wait', () => {
    const bulkhead = open();
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) for (let call = 0; call < 40; call++) if (!bulkhead.full(name)) enter(bulkhead, name);
    expect(['b', 'h', 'new'].map((name) => bulkhead.full(name))).toEqual([true, true, false]);
    expect(enter(bulkhead, 'new')).toBe('waits');
    expect(bulkhead.full('new')).toBe(true);
  });
});

test('rejects a company’s excess requests at once with 429 and Retry-After, while another company is served', async () => {
  const gateway = await startGateway({ READS_PER_MINUTE: '1000' });
  try {
    await gateway.get('/v1/invoices');
    const gate = Promise.withResolvers<void>();
    gateway.invoices.gate = gate.promise;
    const statuses: number[] = [];
    const refusals: (string | null)[] = [];
    const send = async (): Promise<void> => {
      const { status, headers, body } = await gateway.get('/v1/invoices');
      statuses.push(status);
      if (status === 429) refusals.push(`${headers.get('retry-after')} ${body.error.code} ${body.error.request_id === headers.get('x-request-id')}`);
    };
    // 48 run, 100 wait, and 12 are rejected. These are sent later: one being counted in Redis could lose its place in the queue to another.
    const flood = Array.from({ length: 148 }, send);
    await untilMetric(gateway, 'gateway_calls_waiting', 100);
    flood.push(...Array.from({ length: 12 }, send));
    await eventually(() => statuses.length === 12 && gateway.invoices.lists.length === 49);
    expect(refusals).toEqual(Array.from({ length: 12 }, () => '1 RATE_LIMITED true'));
    const { key } = gateway.identities.addKey();
    const other = await request(`${gateway.url}/v1/invoices/00000000-0000-4000-8000-000000000000`, { headers: { authorization: `Bearer ${key}` } });
    expect(other.status).toBe(404);
    // Unknown paths and unknown callers still get their usual answers.
    expect((await gateway.get('/v1/nothing')).status).toBe(404);
    const stranger = await request(`${gateway.url}/v1/invoices`, { headers: { authorization: 'Bearer trk_no' } });
    expect(stranger.status).toBe(401);
    const { text } = await request(`http://127.0.0.1:${gateway.metricsPort}/metrics`);
    expect(text).toMatch(/^gateway_shed_total\{component="gateway"\} 12$/m);
    expect(text).toMatch(/^http_server_request_duration_seconds_count\{.*http_route="none",http_response_status_code="429".*\} 12$/m);
    gate.resolve();
    await Promise.all(flood);
    expect(statuses.filter((status) => status === 200)).toHaveLength(148);
    const { text: after } = await request(`http://127.0.0.1:${gateway.metricsPort}/metrics`);
    expect(after).toMatch(/^gateway_calls_waiting\{component="gateway"\} 0$/m);
  } finally {
    await gateway.stop();
  }
});
