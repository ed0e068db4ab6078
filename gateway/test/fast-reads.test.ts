import { operations } from '@truckroll/contract';
import { createFindRead } from '../src/routes/fast-reads.ts';

const find = createFindRead(operations.map((operation) => ({ operation })));
const ID = '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';

it.each<[string, string, Record<string, string>]>([
  ['/v1/invoices', 'ListInvoices', {}],
  ['/v1/company', 'GetCompany', {}],
  [`/v1/invoices/${ID}`, 'GetInvoice', { id: ID }],
  ['/v1/invoices/none', 'GetInvoice', { id: 'none' }],
  ['/v1/job-classes/INSTALL', 'GetJobClass', { id: 'INSTALL' }],
])('finds at %s the operation %s with the values %j', (path, name, params) => {
  const found = find('GET', path);
  expect([found?.target.operation.name, found?.params]).toEqual([name, params]);
});

it.each([
  ['POST', '/v1/job-assignments'],
  ['DELETE', `/v1/job-assignments/${ID}`],
  ['HEAD', '/v1/invoices'],
  ['GET', '/v1/invoices/'],
  ['GET', '/v1/invoices/a%20b'],
  ['GET', '/v1/invoices/a#b'],
  ['GET', '/v1/invoices/a\u00a0b'],
  ['GET', `/v1/invoices/${ID}/x`],
  ['GET', '/v1/reports/receivables'],
  ['GET', '/api/v1/me'],
  ['GET', '/api/v1/integrations/webhooks'],
  ['GET', '/healthz'],
  ['GET', '*'],
])('leaves %s %s to the router', (method, path) => {
  expect(find(method, path)).toBeUndefined();
});
