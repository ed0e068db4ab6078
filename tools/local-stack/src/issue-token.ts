// User tokens from the development issuer, which only a local installation trusts. Other installations configure their own issuer.
import { SignJWT, importJWK, type JWK } from 'jose';
import { tokenIssuer } from './token-issuer.ts';

export interface Claims {
  readonly subject: string;
  readonly companyId: string;
  readonly lifetimeSeconds: number;
  /** Default: the development issuer. */
  readonly issuer?: string | undefined;
  readonly audience?: string | undefined;
}

export interface IssuedToken {
  readonly token: string;
  /** Seconds since the Unix epoch. */
  readonly expiresAt: number;
  readonly issuer: string;
  readonly audience: string;
  readonly jwksFile: string;
}

/** Signs with the key in the state folder, and creates the key if it is missing. */
export async function issueToken(stateFolder: string, claims: Claims): Promise<IssuedToken> {
  const development = tokenIssuer(stateFolder);
  const { alg, kid } = development.privateKey as { alg: string; kid: string };
  const issuer = claims.issuer ?? development.issuer;
  const audience = claims.audience ?? development.audience;
  const issuedAt = Math.floor(Date.now() / 1000);
  const expiresAt = issuedAt + claims.lifetimeSeconds;
  const token = await new SignJWT({ company_id: claims.companyId })
    .setProtectedHeader({ alg, kid, typ: 'JWT' })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject(claims.subject)
    .setIssuedAt(issuedAt)
    .setExpirationTime(expiresAt)
    .sign(await importJWK(development.privateKey as JWK, alg));
  return { token, expiresAt, issuer, audience, jwksFile: development.jwksFile };
}
