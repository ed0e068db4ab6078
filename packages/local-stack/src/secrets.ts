import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readJson, writeJson } from './files.ts';

/** Made once for each state folder and kept for its owner's eyes. */
export interface Secrets {
  /** Of PostgreSQL's administrator. */
  readonly databasePassword: string;
  /** `id:base64`, 32 bytes: seals cursors. */
  readonly cursorKeys: string;
  /** `id:base64`, 32 bytes: seals the signing secrets of webhook endpoints. */
  readonly webhookSecretKeys: string;
}

export function readSecrets(state: string): Secrets {
  const file = join(state, 'secrets.json');
  const kept = readJson<Partial<Secrets>>(file);
  const secrets: Secrets = {
    databasePassword: kept?.databasePassword ?? randomBytes(18).toString('hex'),
    cursorKeys: kept?.cursorKeys ?? `k1:${randomBytes(32).toString('base64')}`,
    webhookSecretKeys: kept?.webhookSecretKeys ?? `k1:${randomBytes(32).toString('base64')}`,
  };
  // A folder of an earlier release lacks what was added since.
  if (JSON.stringify(kept) !== JSON.stringify(secrets)) writeJson(file, secrets);
  return secrets;
}
