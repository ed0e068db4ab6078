// Says why a user token was refused. The token is not trusted: what it says about itself only chooses the sentence.
import { decodeJwt, decodeProtectedHeader, type JWTPayload } from 'jose';

const MALFORMED = 'The credential is neither an API key (trk_…) nor a JWT: copy it again, whole.';
const REQUIRED = ['sub', 'iat', 'exp', 'company_id'];

export interface Expected {
  issuer: string;
  audience: string;
  /** Longest time from `iat` to `exp`. */
  maxAgeMs: number;
}

/** One sentence without anything of the token or the settings. `nowMs`: milliseconds since 1970. */
export function whyRefused(token: string, { issuer, audience, maxAgeMs }: Expected, nowMs: number): string {
  let claims: JWTPayload;
  try {
    decodeProtectedHeader(token);
    claims = decodeJwt(token);
  } catch {
    return MALFORMED;
  }
  if (claims.iss !== issuer) return 'The token is from another issuer: its iss is not the one that this system trusts.';
  if (![claims.aud].flat().includes(audience)) return 'The token is for another audience: ask its issuer for an access token for this API.';
  const missing = REQUIRED.find((name) => claims[name] === undefined);
  if (missing !== undefined) return `The token lacks the claim ${missing}: its issuer must be set up to add it.`;
  if (typeof claims.exp === 'number' && typeof claims.iat === 'number' && (claims.exp - claims.iat) * 1000 > maxAgeMs)
    return 'The token is valid for longer than TOKEN_MAX_AGE of this API, counted from iat to exp: ask its issuer for one that expires sooner.';
  if (typeof claims.exp === 'number' && claims.exp * 1000 <= nowMs) return 'The token has expired: sign in again, or refresh it.';
  return 'The token is not an access token that its issuer signed for this API: its signature, its header or one of its claims is wrong.';
}
