// Headers that an endpoint's owner adds to every request. Their values are stored encrypted, as signing secrets are, and never shown.
import { checkWebhookHeaders, type JsonProblem } from '@truckroll/contract';
import type { HttpHeader } from '@truckroll/contract/gen/integrations/v1/deliveries';
import type { WebhookHeaderValue } from '@truckroll/contract/gen/integrations/v1/webhooks';
import type { SecretBox } from './secrets.ts';

export interface StoredHeaders {
  header_names: string[];
  /** Encrypted JSON of the values, in the order of the names; null without headers. */
  header_values: Buffer | null;
}

export const NO_HEADERS: StoredHeaders = { header_names: [], header_values: null };

/** Maximum size of names and values together. */
const MOST_BYTES = 4096;

/** Encryption binds the values to this name, so that they cannot be exchanged for the endpoint's signing secret. */
const boundTo = (endpointId: string): string => `${endpointId} headers`;

/** The headers to send, with decrypted values. Throws like SecretBox.open. */
export function openHeaders(secrets: SecretBox, endpointId: string, { header_names: names, header_values: sealed }: StoredHeaders): HttpHeader[] {
  if (sealed === null) return [];
  const values = JSON.parse(secrets.open(boundTo(endpointId), sealed).toString()) as string[];
  return names.map((name, index) => ({ name, value: values[index] as string }));
}

/**
 * Problems of a change of the URL. With another scheme, host or port, each header that stays needs its value again, so that a new receiver
 * does not get the secrets of the old one (decisions §17). Undefined `given` keeps all headers.
 */
export function originProblems(from: string, to: string, names: readonly string[], given: readonly WebhookHeaderValue[] | undefined): JsonProblem[] {
  // What is no URL is refused for that alone.
  if (!URL.canParse(to) || new URL(from).origin === new URL(to).origin) return [];
  const message = (name: string): string => `Give the value of ${name} again, or leave the header out: the URL has another scheme, host or port.`;
  if (given === undefined) return names.map((name) => ({ field: 'headers', code: 'MISSING', message: message(name) }));
  const known = new Set(names.map((name) => name.toLowerCase()));
  return given.flatMap(({ name, value }, index): JsonProblem[] =>
    value == null && known.has(name.toLowerCase()) ? [{ field: `headers[${index}].value`, code: 'MISSING', message: message(name) }] : [],
  );
}

/** The values of the headers: that of `present` under its name for one that is given without; undefined if there is none. */
function valuesOf(secrets: SecretBox, endpointId: string, given: readonly WebhookHeaderValue[], present: StoredHeaders): (string | undefined)[] {
  const known = new Map(openHeaders(secrets, endpointId, present).map(({ name, value }) => [name.toLowerCase(), value]));
  return given.map(({ name, value }) => value ?? known.get(name.toLowerCase()));
}

export function headerProblems(secrets: SecretBox, endpointId: string, given: readonly WebhookHeaderValue[], present: StoredHeaders): JsonProblem[] {
  const values = valuesOf(secrets, endpointId, given, present);
  const bytes = given.reduce((sum, { name }, index) => sum + name.length + (values[index]?.length ?? 0), 0);
  return [
    ...checkWebhookHeaders(given),
    ...values.flatMap((value, index): JsonProblem[] =>
      value === undefined ? [{ field: `headers[${index}].value`, code: 'MISSING', message: 'Give a value: the endpoint has no header of this name.' }] : [],
    ),
    ...(bytes > MOST_BYTES ? [{ field: 'headers', code: 'TOO_LARGE', message: `Shorten names and values to ${MOST_BYTES} bytes together.` } as const] : []),
  ];
}

/** The headers to store, in which headerProblems has found none. */
export function sealHeaders(secrets: SecretBox, endpointId: string, given: readonly WebhookHeaderValue[], present: StoredHeaders): StoredHeaders {
  if (given.length === 0) return NO_HEADERS;
  const values = valuesOf(secrets, endpointId, given, present);
  return { header_names: given.map(({ name }) => name), header_values: secrets.seal(boundTo(endpointId), Buffer.from(JSON.stringify(values))) };
}
