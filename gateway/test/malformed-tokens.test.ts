// A token that is malformed in any way is refused with a reason; it never makes the gateway fail (500) or wait for the issuer (503).
import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { createTokenVerifier, type TokenVerifier } from '../src/auth/tokens.ts';

const NOW = 1_800_000_000;
const COMPANY = '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';
const CLAIMS = { iss: 'https://login.example.com', aud: 'truckroll', sub: 'dana', company_id: COMPANY, iat: NOW, exp: NOW + 3600 };
const HEADER = { alg: 'ES256', kid: 'test' };

const folder = mkdtempSync(join(tmpdir(), 'jwks-'));
let key: KeyObject;
let verifier: TokenVerifier;
beforeAll(() => {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  key = pair.privateKey;
  const file = join(folder, 'jwks.json');
  writeFileSync(file, JSON.stringify({ keys: [{ ...pair.publicKey.export({ format: 'jwk' }), kid: 'test', alg: 'ES256' }] }));
  verifier = createTokenVerifier({ issuer: CLAIMS.iss, audience: CLAIMS.aud, keys: { file }, maxAgeMs: 86_400_000 }, () => NOW * 1000);
});
afterAll(() => rmSync(folder, { recursive: true }));

const encoded = (part: string): string => Buffer.from(part).toString('base64url');

/** A token whose parts are these texts, with a right signature. */
function signed(header: string, payload: string): string {
  const input = `${encoded(header)}.${encoded(payload)}`;
  return `${input}.${sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

/** `valid`, or why the token was refused. */
async function outcome(token: string): Promise<string> {
  return (await verifier.verify(token)) === undefined ? verifier.whyRefused(token) : 'valid';
}

test('a token without a fault is valid', async () => {
  expect(await outcome(signed(JSON.stringify(HEADER), JSON.stringify(CLAIMS)))).toBe('valid');
});

test.each<[string, unknown, unknown, RegExp]>([
  ['typ that is a number', { ...HEADER, typ: 1 }, CLAIMS, /header/],
  ['typ that is null', { ...HEADER, typ: null }, CLAIMS, /header/],
  ['typ that is a list', { ...HEADER, typ: ['JWT'] }, CLAIMS, /header/],
  ['kid that is an object', { ...HEADER, kid: {} }, CLAIMS, /header/],
  ['alg that is a number', { ...HEADER, alg: 1 }, CLAIMS, /header/],
  ['crit', { ...HEADER, crit: ['b64'], b64: false }, CLAIMS, /header/],
  ['header that is a list', [], CLAIMS, /neither an API key/],
  ['payload that is a list', HEADER, [CLAIMS], /neither an API key/],
  ['another issuer', HEADER, { ...CLAIMS, iss: 'https://login.example.org' }, /another issuer/],
  ['another audience', HEADER, { ...CLAIMS, aud: ['the-console'] }, /another audience/],
  ['an end that has passed', HEADER, { ...CLAIMS, iat: NOW - 60, exp: NOW }, /has expired/],
  ['a life longer than allowed', HEADER, { ...CLAIMS, iat: NOW, exp: NOW + 86_401 }, /longer than TOKEN_MAX_AGE/],
  ['no company_id', HEADER, { ...CLAIMS, company_id: undefined }, /lacks the claim company_id/],
  ['no sub', HEADER, { ...CLAIMS, sub: undefined }, /lacks the claim sub/],
  ['sub that is a number', HEADER, { ...CLAIMS, sub: 7 }, /claims/],
])('a token with %s is refused with its own reason', async (_, header, payload, reason) => {
  expect(await outcome(signed(JSON.stringify(header), JSON.stringify(payload)))).toMatch(reason);
});

test('a token that another key signed is refused with its own reason', async () => {
  const token = signed(JSON.stringify(HEADER), JSON.stringify(CLAIMS));
  const [header, , signature] = token.split('.');
  expect(await outcome(`${header}.${encoded(JSON.stringify({ ...CLAIMS, sub: 'bo' }))}.${signature}`)).toMatch(/signature/);
});

const json = fc.jsonValue({ maxDepth: 3 });
const deep = fc.integer({ min: 1, max: 5000 }).map((depth) => `${'['.repeat(depth)}${']'.repeat(depth)}`);
/** A JSON object in which some members are any JSON, the others right. */
const variants = (right: object, others: readonly string[]) =>
  fc
    .tuple(fc.dictionary(fc.constantFrom(...Object.keys(right), ...others), json), fc.option(deep))
    .map(([changes, nested]) => `${JSON.stringify({ ...right, ...changes }).slice(0, -1)}${nested === null ? '' : `,"x":${nested}`}}`);
const part = (right: object, others: readonly string[]) =>
  fc.oneof(
    variants(right, others),
    json.map((value) => JSON.stringify(value)),
    fc.string(),
    deep,
  );

test('any token that the issuer signed is valid or refused', async () => {
  const headers = part(HEADER, ['typ', 'cty', 'crit', 'b64', 'jku', 'jwk', 'x5c', 'x5t', 'zip', 'enc']);
  const payloads = part(CLAIMS, ['nbf', 'jti', 'nonce', 'at_hash', 'c_hash', 'azp']);
  await fc.assert(
    fc.asyncProperty(headers, payloads, async (header, payload) => {
      expect(await outcome(signed(header, payload))).toEqual(expect.any(String));
    }),
    { numRuns: 500 },
  );
});

test('any text is refused', async () => {
  const text = fc.oneof(
    fc.string(),
    fc.array(fc.oneof(fc.base64String(), fc.string().map(encoded)), { maxLength: 6 }).map((parts) => parts.join('.')),
  );
  await fc.assert(
    fc.asyncProperty(text, async (token) => {
      expect(await outcome(token)).toMatch(/^The /);
    }),
    { numRuns: 500 },
  );
});
