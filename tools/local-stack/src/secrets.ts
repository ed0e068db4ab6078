import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { components } from '@truckroll/contract/components';
import { readJson, writeJson } from './files.ts';

/** Created once for each state folder, readable by its owner only. */
export interface Secrets {
  readonly databasePassword: string;
  /** `id:base64`, 32 bytes: seals cursors. */
  readonly cursorKeys: string;
  /** `id:base64`, 32 bytes: seals the signing secrets of webhook endpoints. */
  readonly webhookSecretKeys: string;
  /** `id:base64`, 32 bytes: signs the identities that gateways keep in Redis. */
  readonly identityKeys: string;
  /** `<caller>.<secret>` by caller: the credentials with which components authenticate to each other. */
  readonly callCredentials: Readonly<Record<CallerName, string>>;
}

export const SECRET_NAMES = ['CURSOR_KEYS', 'WEBHOOK_SECRET_KEYS', 'IDENTITY_KEYS', 'CALL_CREDENTIAL', 'CALLER_CREDENTIALS'] as const;

/** Every component that calls others, as the contract names them (truckroll.options.v1.Caller). */
const CALLERS = ['operator', ...components.map(({ name }) => name)] as const;
export type CallerName = (typeof CALLERS)[number];

export function readSecrets(state: string): Secrets {
  const file = join(state, 'secrets.json');
  const kept = readJson<Partial<Secrets>>(file);
  const secrets: Secrets = {
    databasePassword: kept?.databasePassword ?? randomBytes(18).toString('hex'),
    cursorKeys: kept?.cursorKeys ?? keyRing(),
    webhookSecretKeys: kept?.webhookSecretKeys ?? keyRing(),
    identityKeys: kept?.identityKeys ?? keyRing(),
    callCredentials: { ...newCredentials(), ...kept?.callCredentials },
  };
  // Adds secrets that a folder of an earlier release lacks.
  if (JSON.stringify(kept) !== JSON.stringify(secrets)) writeJson(file, secrets);
  return secrets;
}

function keyRing(): string {
  return `k1:${randomBytes(32).toString('base64')}`;
}

function newCredentials(): Record<CallerName, string> {
  return Object.fromEntries(CALLERS.map((name) => [name, `${name}.${randomBytes(32).toString('base64url')}`])) as Record<CallerName, string>;
}

/** CALLER_CREDENTIALS of every service: the SHA-256 of each accepted credential. */
export function acceptedCallers({ callCredentials }: Pick<Secrets, 'callCredentials'>): string {
  return Object.entries(callCredentials)
    .map(([name, text]) => `${name}:${createHash('sha256').update(text).digest('hex')}`)
    .join();
}
