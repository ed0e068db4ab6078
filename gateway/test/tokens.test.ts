// Which user tokens are valid, and when: both sides of each limit. The complete path is tested in authentication.test.ts.
import { SignJWT, exportJWK, generateKeyPair, type CryptoKey, type JWTHeaderParameters, type JWTPayload } from 'jose';
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTokenVerifier, type TokenVerifier } from '../src/auth/tokens.ts';

const ISSUED = 1_800_000_000;
const HOUR = 3600;
const DAY = 24 * HOUR;
const COMPANY = '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';
const CLAIMS = { issuer: 'https://login.example.com', subject: 'dana', company_id: COMPANY };

const { spyOn } = jest;
const folder = mkdtempSync(join(tmpdir(), 'jwks-'));
const file = join(folder, 'jwks.json');
let key: CryptoKey;
/** Seconds since 1970. */
let now = ISSUED;

beforeAll(async () => {
  const pair = await generateKeyPair('ES256');
  key = pair.privateKey;
  writeFileSync(file, JSON.stringify({ keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'test', alg: 'ES256' }] }));
});
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(() => {
  now = ISSUED;
});

function verifier(maxAgeSeconds = DAY): TokenVerifier {
  const { issuer } = CLAIMS;
  return createTokenVerifier({ issuer, audience: 'truckroll', keys: { file }, maxAgeMs: maxAgeSeconds * 1000 }, () => now * 1000);
}

/** A token that is valid for an hour, unless the claims differ. */
function sign(claims: JWTPayload = {}, header: Partial<JWTHeaderParameters> = {}): Promise<string> {
  const { issuer: iss, subject: sub } = CLAIMS;
  return new SignJWT({ iss, sub, aud: 'truckroll', iat: ISSUED, exp: ISSUED + HOUR, company_id: COMPANY, ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: 'test', ...header })
    .sign(key);
}

describe('the kind of a user token', () => {
  test.each([undefined, 'JWT', 'jwt', 'at+jwt', 'AT+JWT', 'application/at+jwt'])('accepts typ %s', async (typ) => {
    expect(await verifier().verify(await sign({}, typ === undefined ? {} : { typ }))).toEqual(CLAIMS);
  });

  test.each(['id+jwt', 'dpop+jwt', 'logout+jwt', 'at+jwt2', 'JWS', ''])('rejects typ "%s"', async (typ) => {
    expect(await verifier().verify(await sign({}, { typ }))).toBeUndefined();
  });

  test.each(['at_hash', 'c_hash'])('rejects an ID token, which has %s', async (claim) => {
    expect(await verifier().verify(await sign({ [claim]: 'x' }, { typ: 'JWT' }))).toBeUndefined();
  });

  test('accepts an access token with a nonce, as older issuers make them', async () => {
    expect(await verifier().verify(await sign({ nonce: 'n-0S6_WzA2Mj' }, { typ: 'JWT' }))).toEqual(CLAIMS);
  });

  test('accepts a token for several audiences that include ours', async () => {
    expect(await verifier().verify(await sign({ aud: ['https://login.example.com/userinfo', 'truckroll'] }))).toEqual(CLAIMS);
    expect(await verifier().verify(await sign({ aud: ['https://login.example.com/userinfo', 'the-console'] }))).toBeUndefined();
  });
});

test.each([
  ['whose company id is in capitals', { company_id: COMPANY.toUpperCase() }, CLAIMS],
  ['whose company id is none', { company_id: 'acme' }, undefined],
  ['without a subject', { sub: '' }, undefined],
])('reads a token %s', async (_, claims, expected) => {
  expect(await verifier().verify(await sign(claims))).toEqual(expected);
});

describe('the times of a user token', () => {
  test('accepts a token before exp and rejects it at exp', async () => {
    const token = await sign();
    const { verify } = verifier();
    now = ISSUED + HOUR - 0.001;
    expect(await verify(token)).toEqual(CLAIMS);
    now = ISSUED + HOUR;
    expect(await verify(token)).toBeUndefined();
  });

  test('accepts a remembered token before exp and rejects it at exp', async () => {
    const token = await sign();
    const { verify, remembered } = verifier();
    now = ISSUED + HOUR - 30;
    await verify(token);
    now = ISSUED + HOUR - 0.001;
    expect(remembered(token)).toEqual(CLAIMS);
    now = ISSUED + HOUR;
    expect(remembered(token)).toBeUndefined();
  });

  test('remembers a token for a minute, so that a key that leaves the set is trusted no longer', async () => {
    const token = await sign();
    const { verify, remembered } = verifier();
    await verify(token);
    now = ISSUED + 59.999;
    expect(remembered(token)).toEqual(CLAIMS);
    now = ISSUED + 60;
    expect(remembered(token)).toBeUndefined();
  });

  test.each([
    [DAY, undefined],
    [7 * DAY, 7 * DAY],
  ])('allows a life of at most %i seconds if the operator allows %p', async (longest, allowed) => {
    const { verify } = verifier(allowed);
    expect(await verify(await sign({ exp: ISSUED + longest }))).toEqual(CLAIMS);
    expect(await verify(await sign({ exp: ISSUED + longest + 1 }))).toBeUndefined();
  });

  test('accepts an issuer’s clock up to five seconds ahead', async () => {
    const { verify } = verifier();
    expect(await verify(await sign({ iat: ISSUED + 5, nbf: ISSUED + 5 }))).toEqual(CLAIMS);
    expect(await verify(await sign({ iat: ISSUED + 6 }))).toBeUndefined();
    expect(await verify(await sign({ nbf: ISSUED + 6 }))).toBeUndefined();
  });
});

test('rejects a token that expires while the keys are fetched', async () => {
  const { issuer } = CLAIMS;
  const settings = { issuer, audience: 'truckroll', keys: { file }, maxAgeMs: DAY * 1000 };
  const verified = async (after: number) => {
    const times = [ISSUED, after];
    return createTokenVerifier(settings, () => (times.length > 1 ? times.shift()! : times[0]!) * 1000).verify(await sign());
  };
  expect(await verified(ISSUED + HOUR - 0.001)).toEqual(CLAIMS);
  expect(await verified(ISSUED + HOUR)).toBeUndefined();
});

describe('the issuer’s keys', () => {
  const { issuer } = CLAIMS;
  const settings = { issuer, audience: 'truckroll', maxAgeMs: DAY * 1000 };

  /** A key set, and a token signed by its key. */
  async function issuerWith(kid: string) {
    const pair = await generateKeyPair('ES256');
    const set = { keys: [{ ...(await exportJWK(pair.publicKey)), kid, alg: 'ES256' }] };
    const claims = { iss: issuer, sub: CLAIMS.subject, aud: 'truckroll', iat: ISSUED, exp: ISSUED + HOUR, company_id: COMPANY };
    return { set, token: await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid }).sign(pair.privateKey) };
  }

  test('are read again from a changed file once the last look is more than 5 seconds old', async () => {
    const [old, changed] = [await issuerWith('old'), await issuerWith('new')];
    const path = join(folder, 'changing.json');
    writeFileSync(path, JSON.stringify(old.set));
    let elapsed = 7;
    const { verify } = createTokenVerifier(
      { ...settings, keys: { file: path } },
      () => ISSUED * 1000,
      () => elapsed,
    );
    expect(await verify(old.token)).toEqual(CLAIMS);
    writeFileSync(path, JSON.stringify(changed.set));
    utimesSync(path, ISSUED, ISSUED);
    elapsed = 5007;
    expect([await verify(old.token), await verify(changed.token)]).toEqual([CLAIMS, undefined]);
    elapsed = 5008;
    expect([await verify(old.token), await verify(changed.token)]).toEqual([undefined, CLAIMS]);
  });

  test.each<[string, () => Promise<Response>]>([
    ['do not come in time', () => Promise.reject(new DOMException('too late', 'TimeoutError'))],
    ['cannot be fetched', () => Promise.reject(new TypeError('fetch failed'))],
    ['are no set of keys', async () => Response.json({ keys: 'none' })],
    ['are no JSON', async () => new Response('<html>')],
    ['come with an error', async () => Response.json({ keys: [] }, { status: 500 })],
  ])('that %s are an outage, not the fault of the token', async (_, answer) => {
    const fetched = spyOn(globalThis, 'fetch').mockImplementation(answer);
    try {
      const { verify } = createTokenVerifier({ ...settings, keys: { url: 'https://login.example.com/jwks' } }, () => now * 1000);
      await expect(verify(await sign())).rejects.toMatchObject({ status: 503, code: 'INTERNAL_ERROR' });
    } finally {
      fetched.mockRestore();
    }
  });

  test.each([
    ['is absent', undefined],
    ['holds no set of keys', '{"keys":"none"}'],
    ['holds no JSON', '<html>'],
  ])('in a file that %s are an outage, too, until the file is right', async (_, text) => {
    const path = join(folder, 'wrong.json');
    rmSync(path, { force: true });
    if (text !== undefined) writeFileSync(path, text);
    const { verify } = createTokenVerifier({ ...settings, keys: { file: path } }, () => now * 1000);
    await expect(verify(await sign())).rejects.toMatchObject({ status: 503, code: 'INTERNAL_ERROR' });
    writeFileSync(path, readFileSync(file));
    expect(await verify(await sign())).toEqual(CLAIMS);
  });

  test('are fetched again from a URL after 10 minutes, and for an unknown key after 30 seconds', async () => {
    const [old, changed] = [await issuerWith('old'), await issuerWith('new')];
    let { set } = old;
    let ms = ISSUED * 1000;
    const spies = [spyOn(globalThis, 'fetch').mockImplementation(async () => Response.json(set)), spyOn(Date, 'now').mockImplementation(() => ms)];
    try {
      const url = { ...settings, keys: { url: 'https://login.example.com/jwks' } };
      const [first, second] = [createTokenVerifier(url), createTokenVerifier(url)];
      for (const { verify } of [first, second]) expect(await verify(old.token)).toEqual(CLAIMS);
      ({ set } = changed);
      ms += 29_999;
      expect(await first.verify(changed.token)).toBeUndefined();
      ms += 1;
      expect(await first.verify(changed.token)).toEqual(CLAIMS);
      ms += 600_000 - 30_000 - 1;
      expect(await second.verify(old.token)).toEqual(CLAIMS);
      ms += 1;
      expect(await second.verify(old.token)).toBeUndefined();
    } finally {
      for (const spy of spies) spy.mockRestore();
    }
  });
});
