// User tokens (decisions §8): JWTs whose signature, issuer, audience and times are checked here; whether the user still
// belongs to the company is for integrations to say.
import { hash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createLocalJWKSet, createRemoteJWKSet, errors, jwtVerify, type JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import { ApiError, isUuid } from '@truckroll/contract';
import type { UserClaims } from '@truckroll/contract/gen/integrations/v1/identity';

/** How long a verified signature is remembered: after a key leaves the set, tokens it signed work no longer than this. */
const REMEMBERED_MS = 60_000;
const FILE_CHECK_MS = 5000;
const CLOCK_TOLERANCE_SECONDS = 5;
const ALGORITHMS = ['ES256', 'RS256', 'EdDSA', 'Ed25519'];

export interface TokenSettings {
  issuer: string;
  audience: string;
  keys: { url: string } | { file: string };
}

export interface TokenVerifier {
  /** The claims of a token that was verified within the last minute and is still valid. */
  remembered(token: string): UserClaims | undefined;
  /** The claims of a right token, undefined for a wrong one. Throws ApiError 503 where the keys cannot be had. */
  verify(token: string): Promise<UserClaims | undefined>;
}

export function createTokenVerifier(settings: TokenSettings): TokenVerifier {
  const { issuer, audience } = settings;
  const keys = 'url' in settings.keys ? createRemoteJWKSet(new URL(settings.keys.url), { timeoutDuration: 3000 }) : fileKeys(settings.keys.file);
  const remembered = new LRUCache<string, { claims: UserClaims; endsAt: number }>({ max: 10_000, ttl: REMEMBERED_MS });

  return {
    remembered(token) {
      const known = remembered.get(digestOf(token));
      return known !== undefined && known.endsAt > Date.now() ? known.claims : undefined;
    },
    async verify(token) {
      const verified = await verify(token, keys, issuer, audience);
      if (verified !== undefined) remembered.set(digestOf(token), verified);
      return verified?.claims;
    },
  };
}

const digestOf = (token: string): string => hash('sha256', token, 'base64');

async function verify(token: string, keys: JWTVerifyGetKey, issuer: string, audience: string) {
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      requiredClaims: ['iss', 'aud', 'sub', 'exp', 'iat', 'company_id'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
    });
    const { sub, exp, iat, company_id: companyId } = payload;
    const fromTheFuture = (iat ?? 0) > Date.now() / 1000 + CLOCK_TOLERANCE_SECONDS;
    if (typeof companyId !== 'string' || !isUuid(companyId) || typeof sub !== 'string' || sub === '' || fromTheFuture) return undefined;
    const claims: UserClaims = { issuer, subject: sub, company_id: companyId.toLowerCase() };
    return { claims, endsAt: ((exp as number) + CLOCK_TOLERANCE_SECONDS) * 1000 };
  } catch (error) {
    if (saysTokenIsWrong(error)) return undefined;
    throw ApiError.unavailable(error);
  }
}

/** Everything that jose finds wrong has a code of its own; failing to get the keys has the generic one or none. */
function saysTokenIsWrong(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return false;
  return !(error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) && error.code !== 'ERR_JOSE_GENERIC';
}

/** Keys of a file, read again when it changes. */
function fileKeys(path: string): JWTVerifyGetKey {
  let keys: JWTVerifyGetKey | undefined;
  let changedAt = 0;
  let checkedAt = -Infinity;
  return async (header, token) => {
    if (keys === undefined || performance.now() - checkedAt > FILE_CHECK_MS) {
      const { mtimeMs } = await stat(path);
      if (keys === undefined || mtimeMs !== changedAt) {
        keys = createLocalJWKSet(JSON.parse(await readFile(path, 'utf8')));
        changedAt = mtimeMs;
      }
      checkedAt = performance.now();
    }
    return keys(header, token);
  };
}
