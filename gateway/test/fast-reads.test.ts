import { operations } from '@truckroll/contract';
import type { Principal } from '@truckroll/contract/gen/integrations/v1/identity';
import type { Request } from 'express';
import type { Limiter } from '../src/admission/limiter.ts';
import { createCors } from '../src/http/cors.ts';
import { createFindRead, shedReads } from '../src/routes/fast-reads.ts';

const find = createFindRead(operations.map((operation) => ({ operation })));
const ID = '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';

test.each<[string, string, Record<string, string>]>([
  ['/v1/invoices', 'ListInvoices', {}],
  ['/v1/company', 'GetCompany', {}],
  [`/v1/invoices/${ID}`, 'GetInvoice', { id: ID }],
  ['/v1/invoices/none', 'GetInvoice', { id: 'none' }],
  ['/v1/reports/invoice-activity', 'GetInvoiceActivityReport', {}],
  ['/v1/job-classes/INSTALL', 'GetJobClass', { id: 'INSTALL' }],
])('finds at %s the operation %s with the values %j', (path, name, params) => {
  const found = find('GET', path);
  expect([found?.target.operation.name, found?.params]).toEqual([name, params]);
});

test.each([
  ['POST', '/v1/job-assignments'],
  ['DELETE', `/v1/job-assignments/${ID}`],
  ['HEAD', '/v1/invoices'],
  ['GET', '/v1/invoices/'],
  ['GET', '/v1/invoices/a%20b'],
  ['GET', '/v1/invoices/a#b'],
  ['GET', '/v1/invoices/a\u00a0b'],
  ['GET', `/v1/invoices/${ID}/x`],
  ['GET', '/v1/reports'],
  ['GET', '/api/v1/me'],
  ['GET', '/api/v1/integrations/webhooks'],
  ['GET', '/healthz'],
  ['GET', '*'],
])('leaves %s %s to the router', (method, path) => {
  expect(find(method, path)).toBeUndefined();
});

describe('while the queue is full', () => {
  const KEY = { company_id: 'acme', user_id: 'ana', key_id: 'k-1' } as Principal;

  /** What happens to a request. */
  function sent({
    principal = KEY,
    ...more
  }: {
    principal?: Principal | undefined;
    isFull?: boolean;
    sheds?: boolean;
    url?: string;
    authorization?: string[];
  } = {}) {
    const { isFull = true, sheds = true, url = '/v1/invoices?limit=1', authorization = ['Authorization', 'Bearer x'] } = more;
    const noted: unknown[] = [];
    const head: unknown[] = [];
    const res = { headersSent: false, destroyed: false, writeHead: (...parts: unknown[]) => void head.push(...parts), end: () => undefined };
    const handler = shedReads({
      find,
      known: (header) => (header === 'Bearer x' ? principal : undefined),
      keyUses: { note: (...use: unknown[]) => void noted.push(['use', ...use]) },
      limiter: {
        isFull,
        sheds: (company: string) => sheds && company === 'acme',
        chargeShed: (company: string, ms: number) => void noted.push(['charge', company, ms >= 0]),
      } as unknown as Limiter,
      noteShed: () => void noted.push(['shed']),
      requestLog: { ended: () => undefined, shed: (startedAt) => void noted.push(['log', startedAt <= performance.now()]) },
      draining: { active: false },
      cors: createCors(['https://app.example.com']),
    });
    let passed = false;
    handler(
      { method: 'GET', url, rawHeaders: authorization } as unknown as Request,
      res as unknown as Parameters<ReturnType<typeof shedReads>>[1],
      () => void (passed = true),
    );
    return { passed, noted, status: head[0], headers: head[1] as string[] | undefined };
  }

  test('sheds a list of the company with the most waiting: counts it, notes the use of the key and charges the company', () => {
    const { passed, noted, status, headers } = sent();
    expect([passed, status]).toEqual([false, 429]);
    expect(headers).toEqual(expect.arrayContaining(['Retry-After', '1', 'X-Request-Id']));
    expect(noted).toEqual([['shed'], ['use', 'acme', 'k-1'], ['log', true], ['charge', 'acme', true]]);
  });

  test('sheds a read of a script in a browser so that it can see the error', () => {
    const { headers } = sent({ authorization: ['Authorization', 'Bearer x', 'Origin', 'https://app.example.com'] });
    expect(headers).toEqual(expect.arrayContaining(['Access-Control-Allow-Origin', 'https://app.example.com']));
  });

  test('notes no key for the token of a user', () => {
    expect(sent({ principal: { ...KEY, key_id: null } }).noted).toEqual([['shed'], ['log', true], ['charge', 'acme', true]]);
  });

  test.each([
    ['while the queue has room', { isFull: false }],
    ['of a company that has less waiting than others', { sheds: false }],
    ['of an unknown caller', { authorization: ['Authorization', 'Bearer y'] }],
    ['with two credentials', { authorization: ['Authorization', 'Bearer x', 'Authorization', 'Bearer x'] }],
    ['of another company', { principal: { ...KEY, company_id: 'other' } }],
  ])('passes on a request %s', (_, request) => {
    expect(sent(request)).toEqual({ passed: true, noted: [], status: undefined, headers: undefined });
  });
});
