// Standard Webhooks 1.0.0, symmetric signatures.
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

/** Secrets whose keys are kept: making the key takes five times as long as signing with it. */
const MOST_KEYS = 1000;
const keys = new Map<string, KeyObject>();

/**
 * The value of `webhook-signature`: one `v1,…` for each secret, separated by spaces. A receiver accepts the delivery when
 * any of them is right, so both sides of a rotation do. `timestamp` is in seconds.
 */
export function signatureOf(secrets: readonly Uint8Array[], id: string, timestamp: number, body: Uint8Array): string {
  return secrets.map((secret) => `v1,${createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body).digest('base64')}`).join(' ');
}

function keyOf(secret: Uint8Array): KeyObject {
  const name = Buffer.from(secret.buffer, secret.byteOffset, secret.byteLength).toString('latin1');
  let key = keys.get(name);
  if (key === undefined) {
    if (keys.size >= MOST_KEYS) keys.clear();
    keys.set(name, (key = createSecretKey(secret)));
  }
  return key;
}
