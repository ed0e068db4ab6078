import type { Operation } from '@truckroll/contract';
import { routeTable } from '../src/routes/table.ts';

const operation = (name: string, verb: string, route: string): Operation => ({ name, verb, route }) as Operation;
const names = ({ name }: Operation): string => name;
const table = routeTable(
  [
    operation('list', 'GET', '/v1/jobs'),
    operation('create', 'POST', '/v1/jobs'),
    operation('read', 'GET', '/v1/jobs/{id}'),
    operation('summary', 'GET', '/v1/jobs/summary'),
    operation('remove', 'DELETE', '/v1/jobs/{id}/visits/{visit}'),
    operation('rename', 'PATCH', '/v1/jobs/{job}/visits/{visit}'),
  ],
  names,
);

it.each<[string, Record<string, string>, string[]]>([
  ['/v1/jobs', { GET: 'list', POST: 'create' }, []],
  ['/v1/jobs/7', { GET: 'read' }, ['7']],
  ['/v1/jobs/summary', { GET: 'summary' }, []],
  ['/v1/jobs/7/visits/8', { DELETE: 'remove', PATCH: 'rename' }, ['7', '8']],
  ['/v1/jobs/a%20b', { GET: 'read' }, ['a b']],
  ['/v1/jobs/a%2Fb', { GET: 'read' }, ['a/b']],
  ['/v1/jobs/a+b', { GET: 'read' }, ['a+b']],
  ['/v1/jobs/%', { GET: 'read' }, ['%']],
  ['/v1/jobs/%FF', { GET: 'read' }, ['%FF']],
  ['/v1/jobs/s%75mmary', { GET: 'read' }, ['summary']],
])('finds at %s the operations %j with the values %j', (path, targets, values) => {
  const match = table(path);
  expect([Object.fromEntries(match?.targets ?? []), match?.values]).toEqual([targets, values]);
});

it.each([
  '',
  '/',
  '/v1',
  '/v1/',
  '/v1/jobs/',
  '/v1//jobs',
  '//v1/jobs',
  '/V1/jobs',
  '/v1/Jobs',
  '/v1/j%6Fbs',
  '/v1/jobs/7/',
  '/v1/jobs/7/visits',
  '/v1/jobs//visits/8',
  '/v1/jobs/7/visits/8/9',
  'v1/jobs',
  'xv1/jobs',
  '/v1/jobs/summary/visits/8',
])('finds nothing at %j', (path) => {
  expect(table(path)).toBeUndefined();
});

it('rejects two operations with the same verb and path', () => {
  const two = [operation('read', 'GET', '/v1/jobs/{id}'), operation('again', 'GET', '/v1/jobs/{job}')];
  expect(() => routeTable(two, names)).toThrow('two operations at GET /v1/jobs/{job}');
});
