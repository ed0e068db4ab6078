// Standard Webhooks 1.0.0, symmetric signatures.
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

/** Maximum cached keys: creating a key takes five times as long as signing with it. */
const MOST_KEYS = 1000;
const keys = new Map<string, KeyObject>();

/** Value of `webhook-signature`: one `v1,…` per secret. Receivers accept a delivery if any matches. `timestamp` is in seconds. */
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
