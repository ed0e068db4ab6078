// Parses the Authorization header, without looking the credential up.
import { hashApiKey, isApiKey } from '@truckroll/contract';
import type { Credential } from './principals.ts';

/** Longest time in ms that a header's credential is cached. Checking and hashing a key takes a tenth of the time of rejecting a request. */
const RECENT_MS = 1000;
const MOST_RECENT = 1000;
/** Maximum length of a header that is cached: `Bearer` and an API key have 49 characters. */
const LONGEST_RECENT = 64;

/** Maximum length of the header in characters. Tokens with the claims of many groups have a few thousand. */
export const LONGEST_AUTHORIZATION = 16_384;

/** The credential of `Authorization: Bearer <credential>`; undefined for any other header, and for a longer one. */
export function bearerOf(authorization: string): string | undefined {
  return authorization.length > LONGEST_AUTHORIZATION ? undefined : /^Bearer +([^ ]+) *$/i.exec(authorization)?.[1];
}

/** Returns a function that reads the API key from a header; undefined for anything that does not have an API key's form. */
export function createKeyReader(): (authorization: string) => Credential | undefined {
  const recent = new Map<string, Credential>();
  return (authorization) => {
    const known = recent.get(authorization);
    if (known !== undefined) return known;
    const key = bearerOf(authorization);
    if (key === undefined || !isApiKey(key)) return undefined;
    const hash = hashApiKey(key);
    const credential = { cacheKey: `key:${hash.toString('hex')}`, request: { key_hash: hash }, shared: true };
    if (authorization.length > LONGEST_RECENT) return credential;
    if (recent.size >= MOST_RECENT) recent.clear();
    if (recent.size === 0) setTimeout(() => recent.clear(), RECENT_MS).unref();
    recent.set(authorization, credential);
    return credential;
  };
}
