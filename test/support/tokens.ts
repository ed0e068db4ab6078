// An issuer of user tokens whose public key the gateway reads from a file.
import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ISSUER = 'https://issuer.example.com';
const AUDIENCE = 'truckroll';

export interface Issuer {
  readonly environment: Readonly<Record<string, string>>;
  token(user: { id: string; userId: string }): string;
  close(): void;
}

export function createIssuer(): Issuer {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const folder = mkdtempSync(join(tmpdir(), 'truckroll-issuer-'));
  const file = join(folder, 'jwks.json');
  writeFileSync(file, JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'test', alg: 'ES256', use: 'sig' }] }));
  return {
    environment: { TOKEN_ISSUER: ISSUER, TOKEN_AUDIENCE: AUDIENCE, TOKEN_JWKS_FILE: file },
    token({ id, userId }) {
      const iat = Math.floor(Date.now() / 1000);
      const claims = { iss: ISSUER, aud: AUDIENCE, sub: userId, iat, exp: iat + 600, company_id: id };
      const head = [{ alg: 'ES256', kid: 'test', typ: 'JWT' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
      return `${head}.${sign('sha256', Buffer.from(head), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
    },
    close: () => rmSync(folder, { recursive: true }),
  };
}
