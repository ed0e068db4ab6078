// Verifies webhooks (Standard Webhooks 1.0.0). Independent of the rest of the package.
import { Webhook } from 'standardwebhooks';
import type { components } from './gen/api.ts';

type Schemas = components['schemas'];
/** Every event of this release, distinguished by `type`. Later releases may add more: ignore types you do not know. */
export type WebhookEvent =
  | Schemas['ServiceRequestCreated']
  | Schemas['ServiceRequestStatusChanged']
  | Schemas['ServiceRequestBooked']
  | Schemas['InteractionCompleted']
  | Schemas['WebhookTest'];

/** An event, and whether a user requested it as a test: it then has made-up data of its type, so do nothing with it. */
export type VerifiedWebhook = WebhookEvent & { readonly test: boolean };

/** The request was not sent by Truckroll, or is too old: answer 401 and do nothing. */
export class VerificationError extends Error {
  override readonly name = 'VerificationError';
}

type HeaderSource = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
const NAMES = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];

/**
 * Returns the event of a request. `secret` is the endpoint's signing secret, `whsec_…`, or several of which one must match;
 * `headers` are the request's headers; `body` is its raw bytes or text, never re-serialized JSON. Throws VerificationError.
 */
export function verifyWebhook(secret: string | readonly string[], headers: HeaderSource, body: string | Uint8Array): VerifiedWebhook {
  if (typeof secret !== 'string' && !Array.isArray(secret)) throw new TypeError('secret must be a text or several: is its variable set?');
  if (typeof body !== 'string' && !ArrayBuffer.isView(body)) throw new TypeError('body must be the received bytes or text: a parsed body cannot be verified.');
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const single = Object.fromEntries(NAMES.map((name) => [name, headerOf(headers, name)]));
  const secrets: readonly string[] = typeof secret === 'string' ? [secret] : secret;
  let reason: unknown = new Error('no secret was given');
  for (const each of secrets) {
    // A malformed secret is the receiver's mistake, so its error is not wrapped in a VerificationError.
    const webhook = new Webhook(each);
    try {
      webhook.verify(text, single);
      const event = JSON.parse(text) as WebhookEvent & { data?: { test?: unknown } };
      // Only the body is signed, so the header Webhook-Test proves nothing.
      return { ...event, test: event.type === 'webhook.test' || event.data?.test === true };
    } catch (error) {
      reason = error;
    }
  }
  throw new VerificationError(`The webhook is not verified: ${(reason as Error).message}`, { cause: reason });
}

function headerOf(headers: HeaderSource, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? '';
  const value = headers[name] ?? Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  return (typeof value === 'string' ? value : value?.[0]) ?? '';
}
