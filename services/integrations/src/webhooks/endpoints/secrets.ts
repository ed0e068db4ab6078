// Signing secrets at rest, encrypted with AES-256-GCM under the first key of WEBHOOK_SECRET_KEYS; the other keys can still decrypt.
// Each secret is bound to its endpoint, so that it cannot be copied to another row.
import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { seal, sealedBy, unseal, type KeyRing } from '@truckroll/process';

const SECRET_BYTES = 32;

export interface SecretBox {
  seal(endpointId: string, secret: Uint8Array): Buffer;
  /** Throws if no key decrypts it, because one was removed from WEBHOOK_SECRET_KEYS too early. */
  open(endpointId: string, sealed: Buffer): Buffer;
  /** A hash by which a company's values can be compared and not guessed, in hexadecimal. It changes when the first key does. */
  hash(companyId: string, value: string): string;
}

export function newSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** The form that the integrator sees, once. */
export function secretText(secret: Buffer): string {
  return `whsec_${secret.toString('base64')}`;
}

/** Seals with the first of the keys, and opens with any. */
export function createSecretBox(keys: KeyRing): SecretBox {
  const hashKey = Buffer.from(hkdfSync('sha256', keys.first, '', 'hashes of values in the audit trail', SECRET_BYTES));
  return {
    hash: (companyId, value) => createHmac('sha256', hashKey).update(`${companyId} ${value}`).digest('hex'),
    seal: (endpointId, secret) => seal(keys.firstId, keys.first, Buffer.from(endpointId), secret),
    open(endpointId, sealed) {
      const id = sealedBy(sealed) ?? '';
      const key = keys.get(id);
      if (key === undefined) throw new Error(`WEBHOOK_SECRET_KEYS lacks the key ${id}, with which a signing secret was sealed`);
      const secret = unseal(key, Buffer.from(endpointId), sealed);
      if (secret === undefined) throw new Error(`the signing secret of endpoint ${endpointId} was not sealed for it by the key ${id} of WEBHOOK_SECRET_KEYS`);
      return secret;
    },
  };
}
