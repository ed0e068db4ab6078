// Signing secrets at rest: AES-256-GCM under the first key of WEBHOOK_SECRET_KEYS, opened by whichever key sealed them.
// Each is bound to its endpoint, so that a row's secret cannot be put into another row.
import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from 'node:crypto';
import type { KeyRing } from '@truckroll/service-kit';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SECRET_BYTES = 32;

export interface SecretBox {
  /** Length of the key's id (1), id, nonce, sealed secret, tag. */
  seal(endpointId: string, secret: Uint8Array): Buffer;
  /** Throws where no key of the ring opens it: a key was taken out of WEBHOOK_SECRET_KEYS too early. */
  open(endpointId: string, sealed: Buffer): Buffer;
}

export function newSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** As its owner gets to see it, once. */
export function secretText(secret: Buffer): string {
  return `whsec_${secret.toString('base64')}`;
}

export function createSecretBox(keys: KeyRing): SecretBox {
  const ring = new Map([...keys].map(([id, key]) => [id, createSecretKey(key)]));
  const [first] = ring;
  if (first === undefined) throw new Error('WEBHOOK_SECRET_KEYS holds no key');
  return {
    seal(endpointId, secret) {
      const [id, key] = first;
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(endpointId));
      const sealed = [cipher.update(secret), cipher.final(), cipher.getAuthTag()];
      return Buffer.concat([Buffer.of(id.length), Buffer.from(id, 'latin1'), nonce, ...sealed]);
    },
    open(endpointId, sealed) {
      const start = 1 + (sealed[0] ?? 0);
      const id = sealed.toString('latin1', 1, start);
      const key = ring.get(id);
      if (key === undefined) throw new Error(`WEBHOOK_SECRET_KEYS lacks the key ${id}, with which a signing secret was sealed`);
      const decipher = createDecipheriv(CIPHER, key, sealed.subarray(start, start + NONCE_BYTES)).setAAD(Buffer.from(endpointId));
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      return Buffer.concat([decipher.update(sealed.subarray(start + NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    },
  };
}
