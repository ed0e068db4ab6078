// Standard Webhooks 1.0.0, symmetric signatures.
import { createHmac } from 'node:crypto';

/**
 * The value of `webhook-signature`: one `v1,…` for each secret, separated by spaces. A receiver accepts the delivery when
 * any of them is right, so both sides of a rotation do. `timestamp` is in seconds.
 */
export function signatureOf(secrets: readonly Uint8Array[], id: string, timestamp: number, body: Uint8Array): string {
  return secrets
    .map((secret) => `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body).digest('base64')}`)
    .join(' ');
}
