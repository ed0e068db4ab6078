// /console as a browser gets it; its behaviour is tested in test/console.
import { request, startGateway, type TestGateway } from './support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

test.each([
  ['/console', 'text/html; charset=utf-8'],
  ['/console/console.js', 'text/javascript; charset=utf-8'],
  ['/console/console.css', 'text/css; charset=utf-8'],
  ['/console/icon.svg', 'image/svg+xml'],
])('serves %s without a credential, with a policy that allows nothing from outside', async (path, type) => {
  const { status, headers, text } = await request(gateway.url + path);
  expect([status, headers.get('content-type')]).toEqual([200, type]);
  expect(text.length).toBeGreaterThan(100);
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(headers.get('cache-control')).toBe('no-cache');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.has('set-cookie')).toBe(false);
  const policy = headers.get('content-security-policy')?.split('; ');
  for (const rule of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "form-action 'none'", "frame-ancestors 'none'"]) {
    expect(policy).toContain(rule);
  }
  expect(policy?.join()).not.toContain('unsafe');
});

test('refers to nothing outside its own folder, and contains neither script nor style', async () => {
  const { text } = await request(`${gateway.url}/console`);
  expect([...text.matchAll(/(?:href|src)="([^"]*)"/g)].map((match) => match[1])).toEqual([
    'console/icon.svg',
    'console/console.css',
    'console/console.js',
    'docs',
  ]);
  expect(text).not.toMatch(/<style|<script>| style=| on[a-z]+=/);
  const { text: style } = await request(`${gateway.url}/console/console.css`);
  expect(style).not.toMatch(/url\(|@import/);
});

test('redirects the address with a trailing slash', async () => {
  const answer = await fetch(`${gateway.url}/console/`, { redirect: 'manual' });
  expect([answer.status, answer.headers.get('location')]).toEqual([308, '../console']);
});

test('answers every other path below it with 404', async () => {
  for (const path of ['/console/index.html', '/console/../src/app.ts', '/console/src/main.tsx', '/console/.stamp']) {
    expect((await request(gateway.url + path)).status).toBe(401);
  }
});
