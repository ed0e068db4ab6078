import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { readJson, writeJson } from './files.ts';

/** The development issuer of user tokens: `truckroll token` signs with its key, and the gateway accepts those tokens. */
export interface TokenIssuer {
  readonly issuer: string;
  readonly audience: string;
  /** A JWK with `kid` and `alg`: ES256. */
  readonly privateKey: Readonly<Record<string, string>>;
}

/**
 * Created once for each state folder. The gateway reads the public half from `jwks.json` there. `address` is kept as the issuer's
 * name: where its sign-in page is.
 */
export function tokenIssuer(state: string, address?: string): TokenIssuer & { jwksFile: string } {
  const file = join(state, 'token-issuer.json');
  const jwksFile = join(state, 'jwks.json');
  let issuer = readJson<TokenIssuer>(file);
  if (!issuer) {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const key = { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), alg: 'ES256', use: 'sig' } as Record<string, string>;
    issuer = { issuer: address ?? 'https://issuer.truckroll.test', audience: 'truckroll', privateKey: key };
    writeJson(file, issuer);
  } else if (address !== undefined && issuer.issuer !== address) {
    issuer = { ...issuer, issuer: address };
    writeJson(file, issuer);
  }
  const { d: _secret, ...publicKey } = issuer.privateKey;
  writeJson(jwksFile, { keys: [publicKey] });
  return { ...issuer, jwksFile };
}
