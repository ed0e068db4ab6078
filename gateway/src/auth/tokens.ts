// User tokens (decisions §8): checks a JWT's signature, kind, issuer, audience and times. Integrations checks the user's membership.
import { hash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createLocalJWKSet, createRemoteJWKSet, decodeJwt, errors, jwtVerify, type JSONWebKeySet, type JWTPayload, type JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import { ApiError, isUuid } from '@truckroll/contract';
import type { UserClaims } from '@truckroll/contract/gen/integrations/v1/identity';
import { whyRefused } from './token-reasons.ts';

/** Time in ms that a verified signature is remembered, even if its key leaves the set. */
const REMEMBERED_MS = 60_000;
/** Age in ms from which keys of a URL are fetched again. While the issuer is down, tokens are accepted for at most this long. */
const FETCHED_MS = 600_000;
/** Minimum time in ms between two fetches for tokens whose key is not in the set. */
const UNKNOWN_KEY_MS = 30_000;
const FILE_CHECK_MS = 5000;
/** Seconds by which the issuer's clock may be ahead. They do not extend a token's life: `exp` is checked against the gateway's clock. */
const CLOCK_TOLERANCE_SECONDS = 5;
const ALGORITHMS = ['ES256', 'RS256', 'EdDSA', 'Ed25519'];
/** Accepted `typ` in the header, where it has one, in lower case and without `application/`. */
const TYPES: ReadonlySet<string> = new Set(['jwt', 'at+jwt']);
/**
 * Claims that only ID tokens have (OpenID Connect Core, 3.1.3.6 and 3.3.2.11). ID tokens describe a sign-in to a client; they open no API.
 * `nonce` does not decide: older issuers put it into access tokens.
 */
const ID_TOKEN_CLAIMS = ['at_hash', 'c_hash'];

export interface TokenSettings {
  issuer: string;
  audience: string;
  keys: { url: string } | { file: string };
  /** Longest time from `iat` to `exp`. */
  maxAgeMs: number;
}

export interface TokenVerifier {
  /** The claims of a token that was verified within the last minute and is still valid. */
  remembered(token: string): UserClaims | undefined;
  /** The claims of a valid token, undefined for an invalid one. Throws ApiError 503 if the issuer's keys are unavailable. */
  verify(token: string): Promise<UserClaims | undefined>;
  /** A sentence for the sender of a token that is not valid. */
  whyRefused(token: string): string;
}

/** `nowMs`: milliseconds since 1970. `elapsedMs`: milliseconds since some moment, never set back. */
export function createTokenVerifier(settings: TokenSettings, nowMs: () => number = Date.now, elapsedMs: () => number = () => performance.now()): TokenVerifier {
  const fetching = { timeoutDuration: 3000, cacheMaxAge: FETCHED_MS, cooldownDuration: UNKNOWN_KEY_MS };
  const keys = 'url' in settings.keys ? createRemoteJWKSet(new URL(settings.keys.url), fetching) : fileKeys(settings.keys.file, elapsedMs);
  const remembered = new LRUCache<string, Verified & { until: number }>({ max: 10_000 });

  return {
    remembered(token) {
      const known = remembered.get(digestOf(token));
      return known !== undefined && nowMs() < known.until ? known.claims : undefined;
    },
    async verify(token) {
      const verified = await verify(token, keys, settings, nowMs);
      if (verified !== undefined) remembered.set(digestOf(token), { ...verified, until: Math.min(verified.endsAt, nowMs() + REMEMBERED_MS) });
      return verified?.claims;
    },
    whyRefused: (token) => whyRefused(token, settings, nowMs()),
  };
}

const digestOf = (token: string): string => hash('sha256', token, 'base64');

interface Verified {
  claims: UserClaims;
  /** `exp` in milliseconds since 1970: the token is invalid from then on. */
  endsAt: number;
}

async function verify(token: string, keys: JWTVerifyGetKey, settings: TokenSettings, nowMs: () => number): Promise<Verified | undefined> {
  const { issuer, audience, maxAgeMs } = settings;
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      requiredClaims: ['iss', 'aud', 'sub', 'exp', 'iat', 'company_id'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(nowMs()),
    });
    const { sub, company_id: companyId } = payload;
    if (typeof companyId !== 'string' || !isUuid(companyId) || typeof sub !== 'string' || sub === '') return undefined;
    if (!isAccessToken(payload, protectedHeader.typ)) return undefined;
    const issuedAt = (payload.iat as number) * 1000;
    const endsAt = (payload.exp as number) * 1000;
    // Fetching the keys may have taken seconds.
    const now = nowMs();
    if (issuedAt > now + CLOCK_TOLERANCE_SECONDS * 1000 || endsAt <= now || endsAt - issuedAt > maxAgeMs) return undefined;
    return { claims: { issuer, subject: sub, company_id: companyId.toLowerCase() }, endsAt };
  } catch (error) {
    if (saysTokenIsWrong(error)) return undefined;
    throw ApiError.unavailable(error);
  }
}

/** When a verified token expires, in ms since 1970. */
export function expiryOf(token: string): number {
  return (decodeJwt(token).exp as number) * 1000;
}

function isAccessToken(payload: JWTPayload, type: unknown): boolean {
  // jose does not check that it is a text.
  const known = type === undefined || (typeof type === 'string' && TYPES.has(type.toLowerCase().replace(/^application\//, '')));
  return known && !ID_TOKEN_CLAIMS.some((name) => name in payload);
}

/** jose gives every fault of a token a specific code. Failing to get the keys has the generic code or none. */
function saysTokenIsWrong(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return false;
  return !(error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) && error.code !== 'ERR_JOSE_GENERIC';
}

/** Reads the file again when it changes. */
function fileKeys(path: string, elapsedMs: () => number): JWTVerifyGetKey {
  let keys: JWTVerifyGetKey | undefined;
  let changedAt = 0;
  let checkedAt = -Infinity;
  return async (header, token) => {
    if (keys === undefined || elapsedMs() - checkedAt > FILE_CHECK_MS) {
      const { mtimeMs } = await stat(path);
      if (keys === undefined || mtimeMs !== changedAt) {
        keys = createLocalJWKSet(JSON.parse(await readFile(path, 'utf8')) as JSONWebKeySet);
        changedAt = mtimeMs;
      }
      checkedAt = elapsedMs();
    }
    return keys(header, token);
  };
}
