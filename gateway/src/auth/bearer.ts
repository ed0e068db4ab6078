// What an Authorization header says, before anybody is asked whose it is.
import { hashApiKey, isApiKey } from '@truckroll/service-kit';
import type { Credential } from './principals.ts';

/** How long the text of a key is known here after a request came with it, whatever else came: checking and hashing one took a tenth of the time of a refusal. */
const RECENT_MS = 1000;
const MOST_RECENT = 1000;

/** The credential of `Authorization: Bearer <credential>`; undefined for any other header. */
export function bearerOf(authorization: string): string | undefined {
  return /^Bearer +([^ ]+) *$/i.exec(authorization)?.[1];
}

/** Of a header, the API key, where it has the form of one. */
export function createKeyReader(): (authorization: string) => Credential | undefined {
  const recent = new Map<string, Credential>();
  return (authorization) => {
    const known = recent.get(authorization);
    if (known !== undefined) return known;
    const key = bearerOf(authorization);
    if (key === undefined || !isApiKey(key)) return undefined;
    const hash = hashApiKey(key);
    const credential = { cacheKey: `key:${hash.toString('hex')}`, request: { key_hash: hash }, shared: true };
    if (recent.size >= MOST_RECENT) recent.clear();
    if (recent.size === 0) setTimeout(() => recent.clear(), RECENT_MS).unref();
    recent.set(authorization, credential);
    return credential;
  };
}
