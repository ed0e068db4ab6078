// How a header becomes a caller, apart from the caches and the checks of tokens, which have tests of their own.
import { ApiError, generateApiKey, hashApiKey } from '@truckroll/contract';
import type { Principal, UserClaims } from '@truckroll/contract/gen/integrations/v1/identity';
import { createMetrics } from '@truckroll/telemetry';
import { createAuthentication } from '../src/auth/authenticate.ts';
import { MayBeUnknown } from '../src/auth/cells.ts';
import type { Credential, Principals } from '../src/auth/principals.ts';
import { Strangers } from '../src/auth/strangers.ts';

const CALLER = { company_id: 'acme', user_id: 'ana' } as Principal;
const CLAIMS: UserClaims = { issuer: 'https://id.example.com', subject: 'ana', company_id: 'acme' };
const ADDRESS = '192.0.2.7';

/** Tokens are `remembered`, `new` or wrong. Every credential belongs to `caller`, or fails with `fault`; `isKept` says whether memory holds it. */
function authenticating(given: { caller?: Principal | null; isKept?: boolean; claims?: UserClaims; verifies?: boolean; fault?: unknown } = {}) {
  const { caller = CALLER, isKept = true, claims = CLAIMS, verifies = true } = given;
  const found: Credential[] = [];
  const strangers = new Strangers({ perMinute: 1, metrics: createMetrics('test') });
  const queued: string[] = [];
  const inTurn = strangers.inTurn.bind(strangers);
  strangers.inTurn = (address, lookUp) => {
    queued.push(address);
    return inTurn(address, lookUp);
  };
  const principals = {
    find: (credential: Credential) => {
      found.push(credential);
      return given.fault === undefined ? (caller ?? undefined) : Promise.reject(ApiError.unavailable(given.fault));
    },
    recall: (credential: Credential) => {
      found.push(credential);
      return isKept ? (caller ?? undefined) : undefined;
    },
    remembers: () => isKept,
  } as unknown as Principals;
  const verifyToken = {
    remembered: (token: string) => (token === 'remembered' ? claims : undefined),
    verify: async (token: string) => (token === 'new' ? claims : undefined),
    whyRefused: (token: string) => `The token ${token} has expired.`,
  };
  const { authenticate, known } = createAuthentication({ principals, verifyToken: verifies ? verifyToken : undefined, strangers });
  const answer = async (header: string | undefined) => {
    try {
      return await authenticate(header, () => ADDRESS);
    } catch (error) {
      return error as ApiError;
    }
  };
  return { answer, known, found, queued, strangers, isOver: () => strangers.isOver(() => ADDRESS) };
}

const key = generateApiKey();
const byKey = { cacheKey: `key:${hashApiKey(key).toString('hex')}`, request: { key_hash: hashApiKey(key) }, shared: true };

test.each(['remembered', 'new'])('finds a user by the claims of a %s token, which are never shared', async (token) => {
  const { answer, found } = authenticating();
  expect(await answer(`Bearer ${token}`)).toBe(CALLER);
  expect(found).toEqual([{ cacheKey: 'user:["https://id.example.com","ana","acme"]', request: { user: CLAIMS }, shared: false }]);
});

test.each<Partial<UserClaims>>([{ issuer: 'https://other.example.com' }, { subject: 'bo' }, { company_id: 'other' }])(
  'keeps users apart whose tokens differ in %j',
  async (other) => {
    const keys = [CLAIMS, { ...CLAIMS, ...other }].map(async (claims) => {
      const { answer, found } = authenticating({ claims });
      await answer('Bearer new');
      return found[0]!.cacheKey;
    });
    expect(new Set(await Promise.all(keys)).size).toBe(2);
  },
);

test('finds a key by its hash', async () => {
  const { answer, found } = authenticating();
  expect(await answer(`Bearer ${key}`)).toBe(CALLER);
  expect(found).toEqual([byKey]);
});

test.each([
  ['no header', undefined, /^Send the header Authorization: Bearer, followed by an API key or a user token\.$/],
  ['an empty header', '', /^Send the header Authorization/],
  ['another scheme', 'Basic YTpi', /^The Authorization header must be Bearer, a space, and an API key or a user token, with/],
  ['a header above 16 KB', `Bearer ${'a'.repeat(16_384)}`, /with at most 16384 characters\.$/],
  ['a mistyped key', 'Bearer trk_wrong', /^This is not an API key: its form or checksum is wrong/],
  ['a wrong token', 'Bearer wrong', /^The token wrong has expired\.$/],
])('answers %s with 401 and the remedy, and counts it against its address', async (_, header, message) => {
  const { answer, found, isOver } = authenticating();
  expect(isOver()).toBe(false);
  expect(await answer(header)).toMatchObject({ code: 'UNAUTHENTICATED', status: 401, message: expect.stringMatching(message) as string });
  expect([found, isOver()]).toEqual([[], true]);
});

test.each([
  ['another scheme', 'Basic YTpi'],
  ['a mistyped key', 'Bearer trk_wrong'],
  ['a wrong token', 'Bearer wrong'],
  ['an unknown key', `Bearer ${key}`],
])('answers %s with 429 after an unknown credential of the same address', async (_, header) => {
  const { answer } = authenticating({ caller: null });
  expect(await answer('Bearer trk_wrong')).toMatchObject({ status: 401 });
  expect(await answer(header)).toMatchObject({ code: 'RATE_LIMITED', status: 429 });
  // A missing credential is no guess.
  expect(await answer(undefined)).toMatchObject({ status: 401 });
});

test.each([
  ['an unknown key', `Bearer ${key}`, /^The API key is unknown, expired or revoked/],
  ['a valid token of an unknown user', 'Bearer remembered', /^The token is valid, but its sub is no active user/],
])('answers %s with its own reason', async (_, header, message) => {
  const { answer } = authenticating({ caller: null });
  expect(await answer(header)).toMatchObject({ status: 401, message: expect.stringMatching(message) as string });
});

test.each<[string, boolean, unknown]>([
  ['a cell is away that may have it', true, new MayBeUnknown()],
  ['nothing can look it up', false, new Error('away')],
])('answers a key with 503 if %s, and counts it against its address: %j', async (_, counts, fault) => {
  const { answer, isOver } = authenticating({ fault });
  for (let twice = 0; twice < 2; twice += 1) expect(await answer(`Bearer ${key}`)).toMatchObject({ status: 503 });
  expect(isOver()).toBe(counts);
});

test('accepts no user token if no issuer is configured', async () => {
  const { answer, found } = authenticating({ verifies: false });
  expect(await answer('Bearer remembered')).toMatchObject({ status: 401, message: expect.stringMatching(/^No issuer/) as string });
  expect(found).toEqual([]);
});

test.each<[string, number, string, boolean]>([
  ['a key that memory has', 0, `Bearer ${key}`, true],
  ['a key that memory lacks', 1, `Bearer ${key}`, false],
  ['a remembered token of a user that memory has', 0, 'Bearer remembered', true],
  ['a remembered token of a user that memory lacks', 1, 'Bearer remembered', false],
  ['a new token', 1, 'Bearer new', true],
])('of an address over its limit, queues the look-up of %s %i times', async (_, times, header, isKept) => {
  const { answer, strangers, queued } = authenticating({ isKept });
  expect(await answer(header)).toBe(CALLER);
  expect(queued).toEqual([]);
  strangers.noteMissing(ADDRESS);
  expect(await answer(header)).toBe(CALLER);
  expect(queued).toEqual(Array.from({ length: times }, () => ADDRESS));
});

test.each<[string, string | undefined, Principal | undefined]>([
  ['a key', `Bearer ${key}`, CALLER],
  ['a remembered token', 'Bearer remembered', CALLER],
  ['a new token', 'Bearer new', undefined],
  ['no header', undefined, undefined],
  ['another scheme', 'Basic YTpi', undefined],
])('knows the caller by %s only from memory, and counts nothing', (_, header, expected) => {
  const { known, isOver } = authenticating();
  expect([known(header), isOver()]).toEqual([expected, false]);
  expect(authenticating({ isKept: false }).known(header)).toBeUndefined();
});
