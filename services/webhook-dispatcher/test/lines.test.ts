import { AttemptError, type LeasedDelivery, type ReportRequest } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { createLog } from '@truckroll/telemetry';
import { ExchangeLog } from '../src/log/lines.ts';

const report = (fields: Partial<ReportRequest>): ReportRequest =>
  ({ error: AttemptError.UNSPECIFIED, error_message: '', response_status: null, started_at: 0, ended_at: 12_000, ...fields }) as ReportRequest;

test('logs an endpoint that keeps failing again after a minute', () => {
  jest.useFakeTimers();
  try {
    let lines = 0;
    const exchangeLog = new ExchangeLog(createLog('trial', 'warn', { write: () => void (lines += 1) }));
    const failing = () => exchangeLog.circuitOpened({ endpoint_id: 'e-1', url: 'https://example.com' } as LeasedDelivery, report({ response_status: 500 }));
    failing();
    jest.advanceTimersByTime(59_999);
    failing();
    expect(lines).toBe(1);
    jest.advanceTimersByTime(1);
    failing();
    expect(lines).toBe(2);
  } finally {
    jest.useRealTimers();
  }
});

test('logs failing and disabled endpoints with endpoint, company, host and cause, at most once a minute', () => {
  const lines: Record<string, unknown>[] = [];
  const exchangeLog = new ExchangeLog(createLog('trial', 'warn', { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) }));
  const delivery = { endpoint_id: 'e-1', company_id: 'c-1', url: 'https://hooks.example.com:8443/secret-path?token=1' } as LeasedDelivery;
  const refused = report({ error: AttemptError.CONNECT, error_message: 'The connection was refused.' });
  for (let times = 0; times < 3; times += 1) exchangeLog.circuitOpened(delivery, refused);
  exchangeLog.circuitOpened({ ...delivery, endpoint_id: 'e-2' }, report({ response_status: 500 }));
  exchangeLog.disabled(delivery, report({ response_status: 410 }));
  const side = { companyId: 'c-1', host: 'hooks.example.com:8443' };
  expect(lines).toMatchObject([
    { ...side, endpoint: 'e-1', result: 'refused', cause: 'The connection was refused.', msg: 'webhook endpoint failing: circuit open' },
    { ...side, endpoint: 'e-2', result: '5xx', status: 500 },
    { ...side, endpoint: 'e-1', result: '4xx', status: 410, msg: 'a webhook endpoint was disabled' },
  ]);
  expect(JSON.stringify(lines)).not.toContain('secret-path');
});

test('logs each exchange with its duration, and each delivery that had to wait for a connection', () => {
  const lines: Record<string, unknown>[] = [];
  const exchangeLog = new ExchangeLog(createLog('trial', 'info', { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) }));
  const delivery = {
    delivery_id: 'd-1',
    endpoint_id: 'e-1',
    company_id: 'c-1',
    event_id: 'v-1',
    event_type: 'interaction.completed',
    attempt: 2,
    url: 'https://hooks.example.com/secret-path',
  } as LeasedDelivery;
  exchangeLog.sent(delivery, report({ response_status: 204, started_at: 1_000_000, ended_at: 1_012_600 }));
  exchangeLog.sent(delivery, report({ error: AttemptError.TIMEOUT, error_message: 'Timed out after 15 s.' }));
  exchangeLog.sent(delivery, report({ error: AttemptError.EXCHANGE, error_message: 'The header name "of the endpoint" is not valid.' }));
  exchangeLog.postponed(delivery);
  const side = { delivery: 'd-1', endpoint: 'e-1', companyId: 'c-1', host: 'hooks.example.com' };
  const about = { event: 'v-1', type: 'interaction.completed', attempt: 2 };
  expect(lines).toMatchObject([
    { level: 'info', ...side, ...about, ms: 13, result: '2xx', status: 204, msg: 'sent a webhook' },
    { level: 'info', ...side, ...about, ms: 12, result: 'timeout', cause: 'Timed out after 15 s.' },
    { level: 'info', ...side, ...about, ms: 12, result: 'broken', cause: 'The header name "…" is not valid.' },
    { level: 'warn', ...side, msg: expect.stringContaining('no free connection') },
  ]);
  expect(lines.map((line) => ['cause' in line, 'status' in line])).toEqual([
    [false, true],
    [true, false],
    [true, false],
    [false, false],
  ]);
});

test('logs a delivery to an endpoint whose URL cannot be parsed', () => {
  const lines: Record<string, unknown>[] = [];
  const exchangeLog = new ExchangeLog(createLog('trial', 'warn', { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) }));
  exchangeLog.postponed({ delivery_id: 'd-1', endpoint_id: 'e-1', company_id: 'c-1', url: 'no URL' } as LeasedDelivery);
  expect(lines).toMatchObject([{ endpoint: 'e-1' }]);
});

test('remembers 10,000 failing endpoints, then starts over', () => {
  let lines = 0;
  const exchangeLog = new ExchangeLog(createLog('trial', 'warn', { write: () => void (lines += 1) }));
  const fails = (id: number) =>
    exchangeLog.circuitOpened({ endpoint_id: `e-${id}`, url: 'https://example.com' } as LeasedDelivery, report({ response_status: 500 }));
  for (let id = 0; id < 10_000; id += 1) fails(id);
  fails(0);
  expect(lines).toBe(10_000);
  fails(10_000);
  fails(0);
  expect(lines).toBe(10_002);
});
