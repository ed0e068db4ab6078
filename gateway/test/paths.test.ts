import { Router, type Request, type Response } from 'express';
import { splitTarget } from '../src/http/exchange.ts';
import { pathsOf, routableUrl } from '../src/routes/paths.ts';

type Verb = 'GET' | 'POST' | 'PATCH' | 'DELETE';

const target = (name: string, verb: Verb, route: string) => ({ name, operation: { verb, route } });
const paths = pathsOf([
  target('list', 'GET', '/v1/jobs'),
  target('create', 'POST', '/v1/jobs'),
  target('read', 'GET', '/v1/jobs/{id}'),
  target('summary', 'GET', '/v1/jobs/summary'),
  target('remove', 'DELETE', '/v1/jobs/{id}/visits/{visit}'),
  target('rename', 'PATCH', '/v1/jobs/{job}/visits/{visit}'),
]);

/** Names of the operations at a path by verb, and the values of its placeholders. */
function match(url: string): [Record<string, string>, unknown[]] | undefined {
  const router = Router({ caseSensitive: true, strict: true });
  let found: [Record<string, string>, unknown[]] | undefined;
  for (const { path, targets } of paths) {
    router.all(path, (req) => {
      found = [Object.fromEntries(targets.map(({ name, operation }) => [operation.verb, name])), Object.values(req.params)];
    });
  }
  router({ method: 'GET', url: routableUrl(url, splitTarget(url)) } as Request, {} as Response, (error?: unknown) =>
    expect(error ?? undefined).toBeUndefined(),
  );
  return found;
}

test.each<[string, Record<string, string>, string[]]>([
  ['/v1/jobs', { GET: 'list', POST: 'create' }, []],
  ['/v1/jobs?a=%zz#', { GET: 'list', POST: 'create' }, []],
  ['http://a.example/v1/jobs', { GET: 'list', POST: 'create' }, []],
  ['/v1/jobs/7', { GET: 'read' }, ['7']],
  ['/v1/jobs/summary', { GET: 'summary' }, []],
  ['/v1/jobs/7/visits/8', { DELETE: 'remove', PATCH: 'rename' }, ['7', '8']],
  ['/v1/jobs/summary/visits/8', { DELETE: 'remove', PATCH: 'rename' }, ['summary', '8']],
  ['/v1/jobs/a%20b', { GET: 'read' }, ['a b']],
  ['/v1/jobs/a%2Fb', { GET: 'read' }, ['a/b']],
  ['/v1/jobs/a+b', { GET: 'read' }, ['a+b']],
  ['/v1/jobs/%', { GET: 'read' }, ['%']],
  ['/v1/jobs/%FF', { GET: 'read' }, ['%FF']],
  ['/v1/jobs/%FF%20', { GET: 'read' }, ['%FF%20']],
  ['/v1/jobs/%FF/visits/a%20b', { DELETE: 'remove', PATCH: 'rename' }, ['%FF', 'a b']],
  ['/v1/jobs/s%75mmary', { GET: 'read' }, ['summary']],
  ['/v1/jobs/7#8', { GET: 'read' }, ['7#8']],
  ['/v1/jobs/7\u00a08', { GET: 'read' }, ['7\u00a08']],
])('finds at %s the operations %j with the values %j', (url, targets, values) => {
  expect(match(url)).toEqual([targets, values]);
});

test.each([
  '/',
  '/v1',
  '/v1/',
  '/v1/jobs/',
  '/v1//jobs',
  '//v1/jobs',
  '/V1/jobs',
  '/v1/Jobs',
  '/v1/j%6Fbs',
  '/v1/jobs#',
  '/v1/jobs#/7',
  '/v1/jobs\u00a0',
  '/v1/jobs/7/',
  '/v1/jobs/7/visits',
  '/v1/jobs//visits/8',
  '/v1/jobs/7/visits/8/9',
  'v1/jobs',
  'xv1/jobs',
  '*',
])('finds nothing at %j', (url) => {
  expect(match(url)).toBeUndefined();
});

test.each([
  ['/v1/jobs/7?a=b', '/v1/jobs/7?a=b'],
  ['/v1/jobs/a%20b?%', '/v1/jobs/a%20b?%'],
  ['/v1/jobs/%?%', '/v1/jobs/%25?%'],
  ['/v1/%?', '/v1/%25'],
  ['/v1/jobs?', '/v1/jobs?'],
  ['http://a.example?b', '/?b'],
])('gives %s to the router as %s', (url, expected) => {
  expect(routableUrl(url, splitTarget(url))).toBe(expected);
});

test('sorts paths so that fixed segments come before placeholders', () => {
  expect(paths.map(({ path }) => path)).toEqual(['/v1/jobs', '/v1/jobs/summary', '/v1/jobs/:id', '/v1/jobs/:id/visits/:visit']);
});

test('rejects two operations with the same verb and path', () => {
  const two = [target('read', 'GET', '/v1/jobs/{id}'), target('again', 'GET', '/v1/jobs/{job}')];
  expect(() => pathsOf(two)).toThrow('two operations at GET /v1/jobs/{job}');
});
