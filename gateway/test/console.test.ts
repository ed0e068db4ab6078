// /console as a browser gets it; its behaviour is tested in test/console.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { consoleSignIn } from '../src/console-sign-in.ts';
import { gatewayConfig } from '../src/config.ts';
import { REQUIRED, request, startGateway, type TestGateway } from './support/gateway.ts';

const FOLDER = join(import.meta.dirname, '../console/gen');
const files = readdirSync(FOLDER).filter((name) => /\.(js|css|html|svg|woff2)$/.test(name));
/** The file of a part that is loaded later, or that parts share. */
function part(name: string): string {
  return files.find((file) => file.startsWith(`${name}-`))!;
}
const isFont = (name: string): boolean => name.endsWith('.woff2');
/** Bytes that a browser receives. A font contains its own compression. */
const sent = (name: string): number => {
  const bytes = readFileSync(join(FOLDER, name));
  return isFont(name) ? bytes.length : gzipSync(bytes).length;
};

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

test.each([
  ['/console', 'text/html; charset=utf-8'],
  ['/console/console.js', 'text/javascript; charset=utf-8'],
  [`/console/${part('chunk')}`, 'text/javascript; charset=utf-8'],
  [`/console/${part('integrations')}`, 'text/javascript; charset=utf-8'],
  ['/console/console.css', 'text/css; charset=utf-8'],
  ['/console/icon.svg', 'image/svg+xml'],
  [`/console/${part('inter-latin-ext-wght-normal')}`, 'font/woff2'],
  ['/console/inter-license.txt', 'text/plain; charset=utf-8'],
])('serves %s without a credential, with a policy that allows nothing from outside', async (path, type) => {
  const { status, headers, text } = await request(gateway.url + path);
  expect([status, headers.get('content-type')]).toEqual([200, type]);
  expect(text.length).toBeGreaterThan(100);
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(headers.get('cache-control')).toBe(isFont(path) ? 'public, max-age=31536000, immutable' : 'no-cache');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.has('set-cookie')).toBe(false);
  const policy = headers.get('content-security-policy')?.split('; ');
  for (const source of ['default-src', 'form-action', 'frame-ancestors']) expect(policy).toContain(`${source} 'none'`);
  for (const source of ['script-src', 'style-src', 'connect-src', 'font-src']) expect(policy).toContain(`${source} 'self'`);
  expect(policy?.join()).not.toContain('unsafe');
});

test('refers to nothing outside its own folder, and contains neither script nor style', async () => {
  const { text } = await request(`${gateway.url}/console`);
  const named = [...text.matchAll(/(?:href|src)="([^"]*)"/g)].map((match) => match[1]);
  expect(new Set(named.map((name) => name?.replace(/-\w+\.(js|woff2)/, '.$1')))).toEqual(
    new Set(['console/icon.svg', 'console/console.css', 'console/inter-latin-wght-normal.woff2', 'console/chunk.js', 'console/console.js', 'docs']),
  );
  expect(text).not.toMatch(/<style|<script>| style=| on[a-z]+=/);
  const { text: style } = await request(`${gateway.url}/console/console.css`);
  const urls = [...style.matchAll(/url\(([^)]*)\)/g)].map((match) => match[1]!.replace(/^"?\.\/|"$/g, ''));
  expect(urls.sort()).toEqual(files.filter(isFont));
  expect(style).not.toContain('@import');
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

describe('with an issuer', () => {
  const TOKENS = { TOKEN_ISSUER: 'https://id.example.com/t"/', TOKEN_AUDIENCE: 'truckroll', TOKEN_JWKS_URL: 'https://keys.example.com/jwks' };
  const settings = { ...TOKENS, CONSOLE_CLIENT_ID: 'console', CONSOLE_SIGN_IN_PARAMETERS: 'audience=a&audience=b%20c' };
  const config = (changes: Record<string, string>) => gatewayConfig({ ...REQUIRED, ...settings, ...changes });

  test('allows requests to the gateway and the issuer only, and puts the settings of the sign-in into the page', async () => {
    const signsIn = await startGateway(settings);
    try {
      const { headers, text } = await request(`${signsIn.url}/console`);
      const rules = headers.get('content-security-policy')?.split('; ');
      expect(rules).toContain("connect-src 'self' https://id.example.com");
      expect(rules?.filter((rule) => rule.includes('example'))).toHaveLength(1);
      const content = /<meta name="sign-in" content="([^"]*)">/.exec(text)![1]!.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code));
      expect(JSON.parse(content)).toEqual({
        issuer: settings.TOKEN_ISSUER,
        clientId: 'console',
        scope: 'openid',
        audience: 'truckroll',
        parameters: [
          ['audience', 'a'],
          ['audience', 'b c'],
        ],
      });
    } finally {
      await signsIn.stop();
    }
  });

  test.each([
    ['TOKEN_AUDIENCE', { TOKEN_AUDIENCE: '' }],
    ['TOKEN_JWKS_URL', { TOKEN_JWKS_URL: '' }],
    ['TOKEN_ISSUER must be the https address', { TOKEN_ISSUER: 'our issuer' }],
    ['TOKEN_ISSUER must be the https address', { TOKEN_ISSUER: 'http://id.example.com' }],
    ['TOKEN_ISSUER must be the https address', { TOKEN_ISSUER: 'https://id.example.com/?tenant=1' }],
    ['TOKEN_AUDIENCE and CONSOLE_CLIENT_ID are the same', { CONSOLE_CLIENT_ID: 'truckroll' }],
    ['CONSOLE_SCOPE must contain openid', { CONSOLE_SCOPE: 'profile email' }],
    ['CONSOLE_SIGN_IN_NAME has more than 60 characters', { CONSOLE_SIGN_IN_NAME: 'x'.repeat(61) }],
    ['contains redirect_uri, which the console sets itself', { CONSOLE_SIGN_IN_PARAMETERS: 'redirect_uri=https://evil.example' }],
  ])('is refused when the settings do not fit: %s %j', (message, changes) => {
    expect(() => consoleSignIn(config(changes))).toThrow(message);
  });

  test('is not named as well when the address of its keys is invalid', () => {
    expect(() => config({ TOKEN_JWKS_URL: 'keys' })).toThrow(/^TOKEN_JWKS_URL is invalid: .*$/);
  });

  test('has the name that the operator gives it', () => {
    expect(consoleSignIn(config({ CONSOLE_SIGN_IN_NAME: 'Núñez Heating' }))?.name).toBe('Núñez Heating');
  });

  test('may be on this machine without TLS', () => {
    expect(consoleSignIn(config({ TOKEN_ISSUER: 'http://127.0.0.1:4000' }))?.issuer).toBe('http://127.0.0.1:4000');
  });

  test('is not used without a client', () => {
    expect(consoleSignIn(config({ CONSOLE_CLIENT_ID: '' }))).toBeUndefined();
  });
});

test('needs at most 90 kB, compressed, for a first view with its font, 110 kB for all that is not a font, and 135 kB for all fonts', async () => {
  const { text } = await request(`${gateway.url}/console`);
  const first = ['index.html', ...[...text.matchAll(/"console\/([^"]*)"/g)].map((match) => match[1]!)];
  const sum = (names: readonly string[]): number => names.reduce((total, name) => total + sent(name), 0);
  expect(sum(first)).toBeLessThan(90_000);
  expect(sum(files.filter((name) => !isFont(name)))).toBeLessThan(110_000);
  expect(sum(files.filter(isFont))).toBeLessThan(135_000);
});
