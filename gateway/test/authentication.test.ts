import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes, randomUUID } from 'node:crypto';
import { createClient } from '@redis/client';
import { ApiError, generateApiKey, hashApiKey, now } from '@truckroll/contract';
import { Principal } from '@truckroll/contract/gen/integrations/v1/identity';
import { newCallCredential } from '@truckroll/grpc';
import { KeyRing } from '@truckroll/process';
import { until } from '@truckroll/testing/until';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from 'jose';
import { createIdentitySeal } from '../src/auth/identity-seal.ts';
import { publishInvalidation, redisUrl, request, startGateway, untilMetric, type Answer, type TestGateway } from './support/gateway.ts';
import { wireTo, type StallableWire } from './support/faults.ts';
import { userName } from './support/stand-ins.ts';

async function withKey(gateway: TestGateway, key: string, path = '/v1/invoices'): Promise<Answer> {
  return request(gateway.url + path, { headers: { authorization: `Bearer ${key}` } });
}

/** A gateway that receives invalidations. Without them, it keeps answers for only a second. */
async function listeningGateway(environment: Record<string, string> = {}, given: Parameters<typeof startGateway>[1] = {}): Promise<TestGateway> {
  const gateway = await startGateway(environment, given);
  await untilMetric(gateway, 'gateway_revocations_proven', 1);
  return gateway;
}

describe('an API key', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await listeningGateway();
  });
  afterAll(() => gateway.stop());

  test('gives access to its company', async () => {
    const { body } = await gateway.get('/v1/company');
    expect(body.data.id).toBe(gateway.companyId);
  });

  test('is looked up once', async () => {
    const askedIn = async (): Promise<number> => {
      const { key } = gateway.identities.addKey();
      const before = gateway.identities.asked;
      for (let i = 0; i < 20; i++) expect((await withKey(gateway, key)).status).toBe(200);
      return gateway.identities.asked - before;
    };
    // If the machine pauses for a second, the gateway has received nothing from Redis and rightly looks the key up again.
    let asked = await askedIn();
    for (let tries = 1; tries < 5 && asked > 1; tries++) asked = await askedIn();
    expect(asked).toBe(1);
  });

  test('is looked up once for many concurrent requests', async () => {
    const { key } = gateway.identities.addKey();
    const before = gateway.identities.asked;
    const answers = await Promise.all(Array.from({ length: 20 }, () => withKey(gateway, key)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(gateway.identities.asked).toBe(before + 1);
  });

  test('is accepted with any spelling of the scheme, and never from the query', async () => {
    for (const scheme of ['bearer', 'BEARER']) {
      expect((await request(`${gateway.url}/v1/invoices`, { headers: { authorization: `${scheme} ${gateway.key}` } })).status).toBe(200);
    }
    expect((await request(`${gateway.url}/v1/invoices?api_key=${gateway.key}&access_token=${gateway.key}`)).status).toBe(401);
  });

  test('that is unknown is looked up at most once a second', async () => {
    const before = gateway.identities.asked;
    const key = generateApiKey();
    const startedAt = performance.now();
    for (let i = 0; i < 10; i++) expect((await withKey(gateway, key)).status).toBe(401);
    // The ten requests may take more than a second.
    expect(gateway.identities.asked - before).toBeLessThanOrEqual(1 + Math.ceil((performance.now() - startedAt) / 1000));
  });

  test('is reported as used', async () => {
    await gateway.get('/v1/invoices');
    const { key_id: id } = gateway.identities.principals.get(hashApiKey(gateway.key).toString('hex')) ?? {};
    const other = await startGateway({}, { identities: gateway.identities, invoices: gateway.invoices });
    await withKey(other, gateway.key);
    await other.stop();
    const use = gateway.identities.uses.findLast(({ key_id: used }) => used === id);
    expect(use).toMatchObject({ company_id: gateway.companyId });
    expect(Math.abs((use?.used_at ?? 0) - now())).toBeLessThan(60_000_000);
  });
});

describe('a revocation', () => {
  test.each(['key', 'user', 'company'] as const)('of a %s reaches every gateway that has cached it', async (kind) => {
    const one = await listeningGateway();
    const two = await listeningGateway({}, { identities: one.identities, invoices: one.invoices });
    const { key, principal } = one.identities.addKey();
    for (const gateway of [one, two, one, two]) expect((await withKey(gateway, key)).status).toBe(200);
    const hash = hashApiKey(key).toString('hex');
    one.identities.principals.delete(hash);
    await publishInvalidation({ key: `key:${hash}`, user: `user:${principal.user_id}`, company: `company:${principal.company_id}` }[kind]);
    await until('both gateways to refuse the key', async () => (await withKey(one, key)).status === 401 && (await withKey(two, key)).status === 401);
    expect((await one.get('/v1/invoices')).status).toBe(200);
    await two.stop();
    await one.stop();
  });

  test('during a look-up is not lost', async () => {
    const gateway = await listeningGateway();
    const { identities } = gateway;
    const [{ key }, { key: witness }] = [identities.addKey(), identities.addKey()];
    const [hash, witnessHash] = [key, witness].map((each) => hashApiKey(each).toString('hex')) as [string, string];
    expect((await withKey(gateway, witness)).status).toBe(200);
    const gate = Promise.withResolvers<void>();
    identities.gate = gate.promise;
    const underWay = withKey(gateway, key);
    await until('the look-up of the key', () => identities.questions.includes(hash));
    identities.principals.delete(hash);
    await publishInvalidation(`key:${hash}`);
    // Messages arrive in order: once the gateway looks the witness up again, both have arrived.
    await publishInvalidation(`key:${witnessHash}`);
    const asking: Promise<Answer>[] = [];
    await until('a second look-up of the witness', () => {
      asking.push(withKey(gateway, witness));
      return identities.questions.filter((name) => name === witnessHash).length > 1;
    });
    gate.resolve();
    // Refused if all of this took longer than a second, because it is authenticated again then.
    expect([200, 401]).toContain((await underWay).status);
    await Promise.all(asking);
    await until('the gateway to refuse the key', async () => (await withKey(gateway, key)).status === 401);
    // Another gateway must not find it in Redis either.
    const other = await listeningGateway({}, { identities: gateway.identities, invoices: gateway.invoices });
    expect((await withKey(other, key)).status).toBe(401);
    await other.stop();
    await gateway.stop();
  });
});

test('a gateway whose own credential is wrong answers 503, because its callers are not at fault', async () => {
  const gateway = await startGateway({ CALL_CREDENTIAL: newCallCredential('gateway').text });
  const answer = await gateway.get('/v1/invoices');
  expect(answer.status).toBe(503);
  expect(answer.body.error.code).toBe('INTERNAL_ERROR');
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(gateway.identities.asked).toBe(0);
  await gateway.stop();
});

describe('without a connection to', () => {
  let gateway: TestGateway;
  let wire: StallableWire;
  beforeEach(async () => {
    wire = await wireTo(redisUrl());
    // This test sends as many unknown keys as it needs.
    gateway = await listeningGateway({ REDIS_URL: wire.url, UNKNOWN_KEYS_PER_MINUTE: '1000000' });
    expect((await gateway.get('/v1/invoices')).status).toBe(200);
  });
  afterEach(async () => {
    await gateway.stop();
    wire.close();
  });

  test.each(['cut', 'stall'] as const)('Redis (%s) reads continue, revocations take effect, and the gateway recovers', async (how) => {
    const { identities } = gateway;
    const hash = hashApiKey(gateway.key).toString('hex');
    const asked = (name: string): number => identities.questions.filter((each) => each === name).length;
    wire[how](true);
    const before = asked(hash);
    await until('another look-up of the key', async () => {
      const answer = await gateway.get('/v1/invoices');
      expect(answer.status).toBe(200);
      expect(answer.headers.get('ratelimit')).toMatch(/^"default";r=\d+;t=\d+$/);
      // The cached answer is no longer trusted.
      return asked(hash) > before;
    });
    const principal = identities.principals.get(hash);
    identities.principals.delete(hash);
    await until('the gateway to refuse the key', async () => (await gateway.get('/v1/invoices')).status === 401);
    if (principal !== undefined) identities.principals.set(hash, principal);
    wire[how](false);
    await untilMetric(gateway, 'gateway_revocations_proven', 1);
    await until('the gateway to accept the key', async () => (await gateway.get('/v1/invoices')).status === 200);
    // Cached answers are trusted for more than a second again: the second has passed when an unknown key is looked up again.
    await until('a request that takes no look-up of the key', async () => {
      const [then, stranger] = [asked(hash), generateApiKey()];
      await until('a second look-up of an unknown key', async () => {
        expect((await withKey(gateway, stranger)).status).toBe(401);
        return asked(hashApiKey(stranger).toString('hex')) > 1;
      });
      expect((await gateway.get('/v1/invoices')).status).toBe(200);
      return asked(hash) === then;
    });
  });

  test('integrations, known keys continue to work and others get a 503', async () => {
    gateway.identities.failure = ApiError.unavailable(new Error('away'));
    expect((await gateway.get('/v1/invoices')).status).toBe(200);
    const unknown = await withKey(gateway, gateway.identities.addKey().key);
    expect(unknown.status).toBe(503);
    expect(unknown.body.error.code).toBe('INTERNAL_ERROR');
    expect(Number(unknown.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('integrations, forged entries in Redis are not trusted', async () => {
    const redis = createClient({ url: redisUrl() });
    await redis.connect();
    const { key, principal } = gateway.identities.addKey();
    const forged = { ...principal, company_id: randomUUID() };
    const epoch = await redis.get('truckroll:identity:epoch');
    const message = Buffer.from(Principal.encode(forged).finish()).toString('base64');
    const shared = `truckroll:identity:key:${hashApiKey(key).toString('hex')}`;
    // One entry without a MAC, and one with a MAC by an unknown key.
    const stranger = createIdentitySeal(new KeyRing([['k1', randomBytes(32)]]));
    for (const text of [`${epoch} ${message}`, stranger.seal(`key:${hashApiKey(key).toString('hex')}`, epoch ?? '', forged)]) {
      await redis.set(shared, text);
      const fresh = await listeningGateway({ REDIS_URL: wire.url }, { identities: gateway.identities, invoices: gateway.invoices });
      expect((await withKey(fresh, key, '/v1/company')).body.data.id).toBe(principal.company_id);
      await fresh.stop();
    }
    redis.destroy();
  });

  test('either, the answer is a 503', async () => {
    gateway.identities.failure = ApiError.unavailable(new Error('away'));
    wire.cut(true);
    let answer = await gateway.get('/v1/invoices');
    await until('an answer other than 200', async () => (answer = await gateway.get('/v1/invoices')).status !== 200);
    expect(answer.status).toBe(503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    gateway.identities.failure = undefined;
    expect((await gateway.get('/v1/invoices')).status).toBe(200);
  });
});

describe('a user token', () => {
  const issuer = 'https://login.example.com';
  const audience = 'truckroll';
  const folder = mkdtempSync(join(tmpdir(), 'jwks-'));
  const file = join(folder, 'jwks.json');
  const pairs = new Map<string, { privateKey: CryptoKey; publicKey: CryptoKey }>();
  const companyId = randomUUID();
  let gateway: TestGateway;

  async function sign(alg: string, claims: JWTPayload = {}, options: { kid?: string; key?: CryptoKey | Uint8Array } = {}): Promise<string> {
    const time = Math.floor(Date.now() / 1000);
    const payload = { iss: issuer, aud: audience, sub: 'dana', iat: time, exp: time + 60, company_id: companyId, ...claims };
    const defined = Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== undefined));
    const key = options.key ?? (pairs.get(alg) as { privateKey: CryptoKey }).privateKey;
    return new SignJWT(defined).setProtectedHeader({ alg, kid: options.kid ?? alg }).sign(key);
  }

  beforeAll(async () => {
    const keys = [];
    for (const alg of ['ES256', 'RS256', 'EdDSA', 'ES384']) {
      const pair = await generateKeyPair(alg, { extractable: true });
      pairs.set(alg, pair);
      keys.push({ ...(await exportJWK(pair.publicKey)), kid: alg, alg });
    }
    writeFileSync(file, JSON.stringify({ keys }));
    gateway = await listeningGateway({ TOKEN_ISSUER: issuer, TOKEN_AUDIENCE: audience, TOKEN_JWKS_FILE: file });
    const { principal } = gateway.identities.addKey({ company_id: companyId, kind: 'PRINCIPAL_KIND_USER', key_id: null });
    gateway.identities.principals.set(userName(issuer, 'dana', companyId), principal);
  });
  afterAll(async () => {
    await gateway.stop();
    rmSync(folder, { recursive: true });
  });

  test.each(['ES256', 'RS256', 'EdDSA'])('signed with %s may read its company’s records', async (alg) => {
    const answer = await withKey(gateway, await sign(alg), '/v1/company');
    expect(answer.status).toBe(200);
    expect(answer.body.data.id).toBe(companyId);
  });

  test.each<[string, () => Promise<string>]>([
    ['an algorithm that is not accepted', () => sign('ES384')],
    ['a symmetric algorithm', () => sign('HS256', {}, { kid: 'ES256', key: new TextEncoder().encode('x'.repeat(32)) })],
    ['a key that is not in the set', async () => sign('ES256', {}, { key: (await generateKeyPair('ES256')).privateKey })],
    ['an unknown key id', () => sign('ES256', {}, { kid: 'other' })],
    ['no end', () => sign('ES256', { exp: undefined as never })],
    ['no issue time', () => sign('ES256', { iat: undefined as never })],
    ['a list for a subject', () => sign('ES256', { sub: ['dana'] as never })],
    ['a company that the user is not in', () => sign('ES256', { company_id: randomUUID() })],
    ['an unknown user', () => sign('ES256', { sub: 'mallory' })],
    ['no signature', async () => `${(await sign('ES256')).split('.').slice(0, 2).join('.')}.`],
  ])('with %s is rejected', async (_, make) => {
    expect((await withKey(gateway, await make(), '/v1/company')).status).toBe(401);
  });

  test('stops working once its user is deactivated', async () => {
    const token = await sign('ES256', { sub: 'erin' });
    const { principal } = gateway.identities.addKey({ company_id: companyId, kind: 'PRINCIPAL_KIND_USER', key_id: null });
    gateway.identities.principals.set(userName(issuer, 'erin', companyId), principal);
    expect((await withKey(gateway, token, '/v1/company')).status).toBe(200);
    gateway.identities.principals.delete(userName(issuer, 'erin', companyId));
    await publishInvalidation(`user:${principal.user_id}`);
    await until('the gateway to refuse the token', async () => (await withKey(gateway, token, '/v1/company')).status === 401);
  });

  test('with a forged signature counts against its address, whose valid tokens still work', async () => {
    const environment = { TOKEN_ISSUER: issuer, TOKEN_AUDIENCE: audience, TOKEN_JWKS_FILE: file, UNKNOWN_KEYS_PER_MINUTE: '3' };
    const other = await startGateway(environment, { identities: gateway.identities, invoices: gateway.invoices });
    const statusOf = async (token: string) => (await withKey(other, token, '/v1/company')).status;
    const { privateKey: key } = await generateKeyPair('ES256');
    const forged = (n: number) => sign('ES256', { sub: `dana${n}` }, { key });
    const known = await sign('ES256');
    expect(await statusOf(known)).toBe(200);
    const seen = [];
    for (let n = 0; n < 5; n++) seen.push(await statusOf(n === 1 ? 'hello' : await forged(n)));
    expect(seen).toEqual([401, 401, 401, 429, 429]);
    const crowd = Promise.all(Array.from({ length: 20 }, async (_, n) => statusOf(await forged(n))));
    expect([await statusOf(known), await statusOf(await sign('ES256', { jti: 'fresh' }))]).toEqual([200, 200]);
    expect(new Set(await crowd)).toEqual(new Set([429]));
    await other.stop();
  });

  test('is checked against the keys at an address, and gets a 503 while they are unavailable', async () => {
    let away = true;
    const server = createServer((_, response) => {
      if (away) response.writeHead(500).end();
      else
        void exportJWK((pairs.get('ES256') as { publicKey: CryptoKey }).publicKey).then((key) =>
          response.end(JSON.stringify({ keys: [{ ...key, kid: 'ES256', alg: 'ES256' }] })),
        );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
    const other = await startGateway(
      { TOKEN_ISSUER: issuer, TOKEN_AUDIENCE: audience, TOKEN_JWKS_URL: url },
      { identities: gateway.identities, invoices: gateway.invoices },
    );
    const token = await sign('ES256');
    expect((await withKey(other, token, '/v1/company')).status).toBe(503);
    away = false;
    expect((await withKey(other, token, '/v1/company')).status).toBe(200);
    await other.stop();
    server.close();
  });

  test('may live longer than a day if the operator allows it', async () => {
    const environment = { TOKEN_ISSUER: issuer, TOKEN_AUDIENCE: audience, TOKEN_JWKS_FILE: file, TOKEN_MAX_AGE: '7d' };
    const other = await startGateway(environment, { identities: gateway.identities, invoices: gateway.invoices });
    const token = await sign('ES256', { exp: Math.floor(Date.now() / 1000) + 6 * 86_400 });
    expect((await withKey(other, token, '/v1/company')).status).toBe(200);
    await other.stop();
  });
});
