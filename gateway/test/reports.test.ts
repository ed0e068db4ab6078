// The gateway's part of reports: queries, cursors, formats. Their contents are tested with reporting.
import { ApiError, operations } from '@truckroll/contract';
import { startGateway, type Answer, type TestGateway } from './support/gateway.ts';
import { collectionsRow, standInReports, type Reports } from './support/reports.ts';

const RANGE = 'start_date=2026-01-01&end_date=2026-04-01';
const ID = '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';
const OTHER = '1c8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';
const all = operations.filter(({ kind }) => kind === 'report');
/** Those with periods, which reporting answers. */
const paths = all.filter(({ request }) => request.byName.has('start_date')).map(({ route }) => route);

let reports: Reports;
let gateway: TestGateway;
beforeAll(async () => {
  reports = await standInReports();
  gateway = await startGateway({ REPORTING_ADDRESS: `127.0.0.1:${reports.port}` });
});
afterAll(async () => {
  await gateway.stop();
  await reports.stop();
});
beforeEach(() => {
  Object.assign(reports, { rows: [], next: Buffer.alloc(0), failure: undefined, asked: {} });
});

const failures = ({ body }: Answer): string[] => body.error.details.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`);
const csv = (query: string): Promise<Answer> => gateway.get(`/v1/reports/collections?${query}`, { headers: { accept: 'text/csv' } });

test('the specification’s five reports exist', () => {
  expect(all.map(({ route }) => route.replace('/v1/reports/', '')).sort()).toEqual([
    'collections',
    'invoice-activity',
    'job-profitability',
    'receivables',
    'technician-participation-profitability',
  ]);
});

describe('an answer', () => {
  test('has rows, the pagination, the report’s parameters, and the time zone of its figures', async () => {
    reports.rows = [collectionsRow({ received_cents: 12_900 })];
    const answer = await gateway.get(`/v1/reports/collections?${RANGE}`);
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body).sort()).toEqual(['data', 'meta', 'pagination', 'report']);
    expect(answer.body.data).toMatchObject([{ period_start: '2026-01-01', group: null, currency: 'USD', received_cents: 12_900 }]);
    expect(answer.body.pagination).toEqual({ next_cursor: null });
    expect(answer.body.meta.timezone).toBe('America/Denver');
    expect(answer.headers.get('vary')).toBe('Accept, Accept-Encoding');
  });

  test('counts against the limit of reports', async () => {
    const { headers } = await gateway.get(`/v1/reports/collections?${RANGE}`);
    expect(headers.get('ratelimit-policy')).toBe('"reports";q=600;w=60');
  });

  test('while reporting still builds its summaries says when to try again', async () => {
    reports.failure = ApiError.unavailable(new Error('building'), 30);
    const { status, headers, body } = await gateway.get(`/v1/reports/collections?${RANGE}`, { headers: { accept: 'text/csv' } });
    expect([status, headers.get('retry-after'), body.error.code]).toEqual([503, '30', 'INTERNAL_ERROR']);
    expect(headers.get('vary')).toBe('Accept, Accept-Encoding');
  });

  test.each(paths)('of %s to anything but GET is a 405', async (path) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']) {
      const { status, headers } = await gateway.get(`${path}?${RANGE}`, { method });
      expect([method, status, headers.get('allow')]).toEqual([method, 405, 'GET']);
    }
  });
});

describe('a request', () => {
  test('reaches reporting with every default filled in', async () => {
    await gateway.get(`/v1/reports/invoice-activity?${RANGE}`);
    await gateway.get(`/v1/reports/technician-participation-profitability?${RANGE}`);
    expect(reports.asked.invoiceActivity).toMatchObject({
      collection: { company_id: gateway.companyId, limit: 50 },
      start_date: '2026-01-01',
      end_date: '2026-04-01',
      bucket: 'BUCKET_MONTH',
      status: ['INVOICE_STATUS_OPEN', 'INVOICE_STATUS_PAID'],
      account_id: [],
    });
    expect(reports.asked.invoiceActivity?.group_by ?? null).toBeNull();
    expect(reports.asked.participation).toMatchObject({
      group_by: 'TECHNICIAN_PARTICIPATION_GROUP_BY_TEAM_MEMBER',
      include_excluded_job_types: false,
    });
  });

  test('reaches reporting with distinct filters in order', async () => {
    await gateway.get(
      `/v1/reports/collections?${RANGE}&account_id=${OTHER}&account_id=${ID.toUpperCase()}&account_id=${OTHER}&method=CASH&method=CARD&group_by=collector`,
    );
    expect(reports.asked.collections).toMatchObject({
      account_id: [ID, OTHER],
      method: ['PAYMENT_METHOD_CARD', 'PAYMENT_METHOD_CASH'],
      group_by: 'COLLECTIONS_GROUP_BY_COLLECTOR',
    });
  });

  test.each([
    ['', ['start_date MISSING', 'end_date MISSING']],
    ['start_date=2026-01-01&end_date=2026-01-01', ['end_date RANGE_ORDER']],
    ['start_date=2026-02-30&end_date=0000-01-01', ['start_date INVALID_FORMAT', 'end_date INVALID_FORMAT']],
    ['start_date=10000-01-01&end_date=2026-04-01', ['start_date INVALID_FORMAT']],
    [`${RANGE}&bucket=hour`, ['bucket INVALID_ENUM_VALUE']],
    [`${RANGE}&ids=${ID}`, ['ids UNKNOWN_PARAMETER']],
    [`${RANGE}&updated_since=2026-01-01T00:00:00Z`, ['updated_since UNKNOWN_PARAMETER']],
    [`${RANGE}&verified_only=true`, ['verified_only UNKNOWN_PARAMETER']],
    [`${RANGE}&job_class=null&limit=101`, ['limit OUT_OF_RANGE', 'job_class INVALID_ENUM_VALUE']],
  ])('of %s is rejected in every report', async (query, expected) => {
    for (const path of paths) {
      const answer = await gateway.get(`${path}?${query}`);
      const found = failures(answer).map((failure) => (failure === 'job_class UNKNOWN_PARAMETER' ? 'job_class INVALID_ENUM_VALUE' : failure));
      expect([path, answer.status, found.sort()]).toEqual([path, 400, [...expected].sort()]);
    }
  });

  test.each([
    ['invoice-activity', ['method=CARD', `collected_by_id=${ID}`, `team_member_id=${ID}`, 'include_excluded_job_types=true']],
    ['collections', ['status=PAID', 'job_class=SERVICE', `business_unit_id=${ID}`, `job_type_id=${ID}`, 'payment_method=CARD']],
    ['job-profitability', ['status=PAID', 'method=CARD', `account_id=${ID}`, `team_member_id=${ID}`]],
    ['technician-participation-profitability', ['status=PAID', `account_id=${ID}`, `business_unit_id=${ID}`, `job_type_id=${ID}`]],
  ])('of %s rejects the parameters of other reports', async (name, others) => {
    const answer = await gateway.get(`/v1/reports/${name}?${RANGE}&${others.join('&')}`);
    expect(failures(answer)).toEqual(others.map((other) => `${other.split('=')[0]} UNKNOWN_PARAMETER`));
  });

  test.each([
    ['invoice-activity', 'payment_method'],
    ['collections', 'job_class'],
    ['job-profitability', 'team_member'],
    ['technician-participation-profitability', 'account'],
  ])('of %s cannot be grouped by %s', async (name, group) => {
    expect(failures(await gateway.get(`/v1/reports/${name}?${RANGE}&group_by=${group}`))).toEqual(['group_by INVALID_ENUM_VALUE']);
  });
});

describe('a cursor', () => {
  const query = `${RANGE}&status=PAID&status=OPEN&account_id=${ID}&account_id=${OTHER}`;
  const cursorOf = async (path: string, text: string): Promise<string> => {
    reports.next = Buffer.from('2026-02-01 x');
    const { body } = await gateway.get(`${path}?${text}`);
    return body.pagination.next_cursor;
  };
  const code = async (path: string, text: string): Promise<string> => (await gateway.get(`${path}?${text}`)).body.error?.code ?? 'none';

  test('accepts any spelling of its filters', async () => {
    const cursor = await cursorOf('/v1/reports/invoice-activity', query);
    const same = [
      query,
      `account_id=${OTHER}&limit=7&account_id=${ID.toUpperCase()}&${RANGE}&bucket=month`,
      `${RANGE}&account_id=${ID}&account_id=${OTHER}&account_id=${ID}`,
    ];
    for (const text of same) {
      expect([text, await code('/v1/reports/invoice-activity', `${text}&cursor=${cursor}`)]).toEqual([text, 'none']);
      expect(Buffer.from(reports.asked.invoiceActivity?.collection?.after ?? []).toString()).toBe('2026-02-01 x');
    }
  });

  test('opens neither with other filters, group, bucket or range, nor in another report', async () => {
    const cursor = await cursorOf('/v1/reports/invoice-activity', query);
    const others = [
      `${query}&group_by=account`,
      `${query}&bucket=day`,
      `${query}&status=VOIDED`,
      `${query}&job_class=SERVICE`,
      RANGE,
      query.replace('2026-04-01', '2026-04-02'),
      query.replace('2026-01-01', '2026-01-02'),
    ];
    for (const text of others) expect([text, await code('/v1/reports/invoice-activity', `${text}&cursor=${cursor}`)]).toEqual([text, 'INVALID_CURSOR']);
    const plain = await cursorOf('/v1/reports/collections', RANGE);
    for (const path of paths)
      expect([path, await code(path, `${RANGE}&cursor=${plain}`)]).toEqual([path, path.endsWith('collections') ? 'none' : 'INVALID_CURSOR']);
    expect(await code('/v1/invoices', `cursor=${plain}`)).toBe('INVALID_CURSOR');
  });
});

describe('as CSV', () => {
  test('is a line of names and a line for each row', async () => {
    reports.rows = [
      collectionsRow({ payment_count: 2, received_cents: 12_900, net_collected_cents: -5 }),
      collectionsRow({ group: { dimension: 'SUMMARY_DIMENSION_COLLECTOR', value: ID, label: 'Núñez, "Ada"\nJr.' } }),
      collectionsRow({ group: { dimension: 'SUMMARY_DIMENSION_COLLECTOR', value: null, label: null } }),
    ];
    const { status, headers, text } = await csv(RANGE);
    expect([status, headers.get('content-type'), headers.get('vary'), headers.get('link')]).toEqual([
      200,
      'text/csv; charset=utf-8; header=present',
      'Accept, Accept-Encoding',
      null,
    ]);
    expect(text).toBe(
      [
        'period_start,period_end,group_dimension,group_value,group_label,currency,payment_count,received_cents,refund_count,refunded_cents,net_collected_cents',
        '2026-01-01,2026-02-01,,,,"USD",2,12900,0,0,-5',
        `2026-01-01,2026-02-01,"collector","${ID}","Núñez, ""Ada""\nJr.","USD",0,0,0,0,0`,
        '2026-01-01,2026-02-01,"collector",,,"USD",0,0,0,0,0',
        '',
      ].join('\r\n'),
    );
  });

  test('links to the next page, except on the last one', async () => {
    reports.next = Buffer.from('there');
    const first = await csv(`${RANGE}&method=CARD&method=CASH&limit=1`);
    const [, target] = /^<(.*)>; rel="next"$/.exec(first.headers.get('link') ?? '') ?? [];
    expect(target).toMatch(/^\?start_date=2026-01-01&end_date=2026-04-01&method=CARD&method=CASH&limit=1&cursor=[\w-]+$/);
    const path = `/v1/reports/collections${target}`;
    const second = await gateway.get(path, { headers: { accept: 'text/csv' } });
    expect(second.status).toBe(200);
    expect(second.headers.get('link')).not.toBe(first.headers.get('link'));
    expect(Buffer.from(reports.asked.collections?.collection?.after ?? []).toString()).toBe('there');
    expect((await gateway.get(path)).body.pagination.next_cursor).toEqual(expect.any(String));
    reports.next = Buffer.alloc(0);
    expect((await gateway.get(path, { headers: { accept: 'text/csv' } })).headers.get('link')).toBeNull();
  });

  test.each([
    ['application/json', 'application/json'],
    ['*/*', 'application/json'],
    ['application/json, text/csv', 'application/json'],
    ['text/csv;q=0.5, application/json', 'application/json'],
    ['text/csv, application/json;q=0.5', 'text/csv'],
    ['text/csv, */*;q=0.1', 'text/csv'],
    ['text/*', 'text/csv'],
    ['text/csv; charset=utf-8', 'text/csv'],
    ['text/csv;charset="UTF-8"', 'text/csv'],
    ['text/csv; header=present', 'text/csv'],
    ['text/csv; charset=utf-8; header=present', 'text/csv'],
    ['TEXT/CSV;q=0.8', 'text/csv'],
    ['application/json;q=0.2, text/csv;charset=utf-8;q=0.9', 'text/csv'],
    ['text/csv;q=0, */*', 'application/json'],
    ['text/csv; charset=iso-8859-1', 'text/csv'],
    ['image/png', 'application/json'],
    ['', 'application/json'],
  ])('is sent or not, depending on Accept: %s', async (accept, type) => {
    const { status, headers } = await gateway.get(`/v1/reports/collections?${RANGE}`, { headers: { accept } });
    expect([status, headers.get('content-type')?.split(';')[0]]).toEqual([200, type]);
  });

  test('has amounts in cents, or in dollars with amounts=decimal, and takes a cursor with either', async () => {
    reports.rows = [collectionsRow({ payment_count: 2, received_cents: 12_900, net_collected_cents: -5 })];
    expect((await csv(`${RANGE}&amounts=cents`)).text).toBe((await csv(RANGE)).text);
    reports.next = Buffer.from('there');
    const { text, headers } = await csv(`${RANGE}&amounts=decimal`);
    expect(text.split('\r\n').map((line) => line.split(',').slice(6))).toEqual([
      ['payment_count', 'received', 'refund_count', 'refunded', 'net_collected'],
      ['2', '129.00', '0', '0.00', '-0.05'],
      [],
    ]);
    const [, target] = /^<(.*)>; rel="next"$/.exec(headers.get('link') ?? '') ?? [];
    expect(target).toContain('&amounts=decimal&cursor=');
    for (const next of [target as string, (target as string).replace('&amounts=decimal', '')]) {
      expect((await csv(next.slice(next.indexOf('?') + 1))).status).toBe(200);
    }
  });

  test.each(paths)('of %s has amounts in dollars with amounts=decimal', async (path) => {
    const { status, text } = await gateway.get(`${path}?${RANGE}&amounts=decimal`, { headers: { accept: 'text/csv' } });
    expect([status, text.includes('_cents')]).toEqual([200, false]);
  });

  test.each([
    [`${RANGE}&amounts=dollars`, 'text/csv', 'amounts INVALID_ENUM_VALUE'],
    [`${RANGE}&amounts=decimal`, 'application/json', 'amounts UNKNOWN_PARAMETER'],
    [`${RANGE}&amounts=cents`, '*/*', 'amounts UNKNOWN_PARAMETER'],
    [`${RANGE}&bom=true`, 'application/json', 'bom UNKNOWN_PARAMETER'],
  ])('refuses %s with Accept: %s', async (query, accept, expected) => {
    const answer = await gateway.get(`/v1/reports/collections?${query}`, { headers: { accept } });
    expect([answer.status, failures(answer)]).toEqual([400, [expected]]);
  });

  test('begins with a byte order mark with bom=true, as its next page does', async () => {
    reports.next = Buffer.from('there');
    const headers = { accept: 'text/csv', authorization: `Bearer ${gateway.key}` };
    const answer = await fetch(`${gateway.url}/v1/reports/collections?${RANGE}&bom=true`, { headers });
    expect(answer.headers.get('link')).toContain('&bom=true&cursor=');
    expect(Buffer.from(await answer.arrayBuffer()).subarray(0, 9)).toEqual(Buffer.from('\uFEFFperiod'));
  });

  test('is refused amounts in a list, which has no CSV', async () => {
    const answer = await gateway.get('/v1/invoices?amounts=decimal', { headers: { accept: 'text/csv' } });
    expect([answer.status, failures(answer)]).toEqual([400, ['amounts UNKNOWN_PARAMETER']]);
  });

  test('leaves errors and lists as JSON', async () => {
    const { status, headers, body } = await csv('bucket=x');
    expect([status, headers.get('content-type'), headers.get('vary')]).toEqual([400, 'application/json', 'Accept, Accept-Encoding']);
    expect(body.error.details).toHaveLength(3);
    expect((await gateway.get('/v1/invoices', { headers: { accept: 'text/csv' } })).headers.get('content-type')).toBe('application/json');
  });
});
