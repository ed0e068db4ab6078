import { rootFrom, splitTarget } from '../src/http/exchange.ts';

test.each([
  ['/', '/', ''],
  ['/v1/invoices', '/v1/invoices', ''],
  ['/v1/invoices?limit=1', '/v1/invoices', 'limit=1'],
  ['/v1/invoices?', '/v1/invoices', ''],
  ['/v1/invoices?a=?b', '/v1/invoices', 'a=?b'],
  ['/?limit=1', '/', 'limit=1'],
  ['?limit=1', '/', 'limit=1'],
  ['', '/', ''],
  ['*', '*', ''],
  ['http://api.example.com/v1/invoices?limit=1', '/v1/invoices', 'limit=1'],
  ['HTTPS://api.example.com:8443/v1', '/v1', ''],
  ['http://api.example.com', '/', ''],
  ['http://api.example.com?limit=1', '/', 'limit=1'],
  ['/http://api.example.com/v1', '/http://api.example.com/v1', ''],
  ['x/http://api.example.com/v1', 'x/http://api.example.com/v1', ''],
  ['://api.example.com/v1', '://api.example.com/v1', ''],
])('splits the request target %j into the path %j and the query %j', (target, path, query) => {
  expect(splitTarget(target)).toEqual({ path, query });
});

test.each([
  ['/', ''],
  ['/docs', ''],
  ['/docs/', '../'],
  ['/v1/invoices/{id}', '../../'],
  ['/a//b', '../../'],
  ['*', ''],
])('from %s the root is %p', (path, root) => {
  expect(rootFrom(path)).toBe(root);
  if (path.startsWith('/')) expect(new URL(`${root}x`, `https://example.com/fsm${path}`).pathname).toBe('/fsm/x');
});
