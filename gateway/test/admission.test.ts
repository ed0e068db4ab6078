// Requests while the gateway's queue is full.
import { until } from '@truckroll/testing/until';
import { QUEUE } from '../src/admission/limiter.ts';
import { request, startGateway } from './support/gateway.ts';

test('sheds requests of a company that fills the queue with 429 and Retry-After at once, while another company is served', async () => {
  const gateway = await startGateway({ READS_PER_MINUTE: '100000' });
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
    const flood = Array.from({ length: QUEUE }, send);
    // Stalled calls give up their slots, so the number of requests that fit depends on time.
    await until('a shed request', () => {
      flood.push(...Array.from({ length: 20 }, send));
      return refusals.length > 0;
    });
    const { key } = gateway.identities.addKey();
    const other = await request(`${gateway.url}/v1/invoices/00000000-0000-4000-8000-000000000000`, { headers: { authorization: `Bearer ${key}` } });
    expect(other.status).toBe(404);
    // Unknown paths and unknown callers still get their usual answers.
    expect((await gateway.get('/v1/nothing')).status).toBe(404);
    const stranger = await request(`${gateway.url}/v1/invoices`, { headers: { authorization: 'Bearer trk_no' } });
    expect(stranger.status).toBe(401);
    gate.resolve();
    await Promise.all(flood);
    const shed = refusals.length;
    expect(new Set(refusals)).toEqual(new Set(['1 RATE_LIMITED true']));
    expect(statuses.filter((status) => status === 200)).toHaveLength(flood.length - shed);
    const { text } = await request(`http://127.0.0.1:${gateway.metricsPort}/metrics`);
    expect(text).toMatch(new RegExp(`^gateway_shed_total\\{component="gateway"\\} ${shed}$`, 'm'));
    expect(text).toMatch(new RegExp(`^http_server_request_duration_seconds_count\\{.*http_route="none",http_response_status_code="429".*\\} ${shed}$`, 'm'));
    expect(text).toMatch(/^gateway_calls_waiting\{component="gateway"\} 0$/m);
  } finally {
    await gateway.stop();
  }
});
