// AES-256-GCM. Sealed bytes name the key that sealed them: length of the key's id (1), id, nonce (12), ciphertext, tag (16).
import { createCipheriv, createDecipheriv, randomBytes, type KeyObject } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Only `unseal` with the same key and `bound` opens the result. Random nonces are safe because a key seals far fewer than 2^32 times. */
export function seal(keyId: string, key: KeyObject, bound: Uint8Array, bytes: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(bound);
  return Buffer.concat([Buffer.of(keyId.length), Buffer.from(keyId, 'latin1'), nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

/** The id of the sealing key, which is not authenticated yet; undefined if the bytes are too short to have been sealed. */
export function sealedBy(sealed: Buffer): string | undefined {
  const [length] = sealed;
  if (length === undefined || sealed.length < 1 + length + NONCE_BYTES + TAG_BYTES) return undefined;
  return sealed.toString('latin1', 1, 1 + length);
}

/** The bytes, or undefined for anything that `seal` did not make with this key and `bound`. Get the key's id from `sealedBy` first. */
export function unseal(key: KeyObject, bound: Uint8Array, sealed: Buffer): Buffer | undefined {
  const start = 1 + (sealed[0] as number);
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(start, start + NONCE_BYTES)).setAAD(bound);
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  const bytes = decipher.update(sealed.subarray(start + NONCE_BYTES, -TAG_BYTES));
  try {
    decipher.final();
    return bytes;
  } catch {
    return undefined;
  }
}
