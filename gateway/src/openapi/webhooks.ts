// Describes the requests that webhook receivers get and the answers they may give (decisions §7), one for each type of event.
import { publicText, type EventType } from '@truckroll/contract';
import type { Components, Schema } from './schemas.ts';

export const WEBHOOKS_TAG = {
  name: 'Webhook events',
  description: `What is sent to the endpoints that you register: each event by \`POST\`, at least once, signed as Standard Webhooks 1.0.0
(standardwebhooks.com) says.

- Verify it: \`webhook-signature\` holds one or more signatures, separated by spaces, and one that is right is enough. Each
  is \`v1,\` and the base64 of the HMAC-SHA256 over \`{webhook-id}.{webhook-timestamp}.{body}\`. The key is what follows
  \`whsec_\` in the endpoint's signing secret, decoded from base64. Take the body's bytes as they came, and refuse what is
  older than five minutes.
- Answer it with any 2xx within 15 seconds. Whatever else you answer, it is tried again after 5 s, 5 min, 30 min, 2 h,
  5 h, 10 h, 14 h, 20 h and 24 h, each ±20 %. Redirects are not followed.
- Expect repeats: keep the \`id\`s that you have seen. \`sequence\` grows by one per subject, that is per service request or
  interaction, so it orders events and shows gaps. Ignore keys that you do not know.
- A test that a user requested has the header \`Webhook-Test: true\`, which is not signed. Unless its type is
  \`webhook.test\`, its \`data\` has \`"test": true\`, which is: handle nothing of it.`,
};

/** In `meta` of answers and events. */
export const SANDBOX: Schema = {
  type: 'boolean',
  const: true,
  description: 'Only of a sandbox, a company for tests: its records are generated.',
  examples: [true],
};

const header = (name: string, description: string, schema: Schema): Schema => ({ name, in: 'header', required: true, description, schema });

/** Headers of every webhook. They are repeated inline, because generators leave out components that no path refers to. */
const HEADERS: readonly Schema[] = [
  header('webhook-id', 'The event: equal to the body’s `id`, and the same whenever it is sent again.', { type: 'string', format: 'uuid' }),
  header('webhook-timestamp', 'When this attempt began, in seconds since 1970-01-01T00:00:00Z.', {
    type: 'string',
    pattern: '^\\d+$',
    examples: ['1772463845'],
  }),
  header('webhook-signature', 'One signature, or two separated by a space for 24 hours after the secret was replaced.', {
    type: 'string',
    pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$',
    examples: ['v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4='],
  }),
];

const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds or a date before which it is not tried again; heeded up to 24 hours.', schema: { type: 'string' } },
};
const RESPONSES: Schema = {
  '2XX': { description: 'Delivered.' },
  410: { description: 'The endpoint is disabled. What happens from then on is kept as skipped, for 30 days, and can be recovered.' },
  429: { description: 'Tried again, and the endpoint is sent less at once until it answers well; so with 502 and 504.', headers: RETRY_AFTER },
  default: { description: 'Tried again; so where nothing comes within 15 seconds.', headers: RETRY_AFTER },
};

export function describeWebhooks(events: readonly EventType[], components: Components): Record<string, Record<string, Schema>> {
  return Object.fromEntries(events.map((event) => [event.type, { post: describeWebhook(event, components) }]));
}

function describeWebhook({ type, body }: EventType, components: Components): Schema {
  const schema = components.object(body, 'snake');
  const name = (schema.$ref as string).split('/').at(-1) as string;
  const properties = components.schemas[name]?.properties as Record<string, Schema>;
  properties['type'] = { ...properties['type'], const: type };
  properties['meta'] = { type: 'object', description: 'Only of a sandbox.', properties: { sandbox: SANDBOX } };
  return {
    operationId: `receive${name}`,
    tags: [WEBHOOKS_TAG.name],
    summary: type,
    description: publicText(body.doc),
    parameters: HEADERS,
    requestBody: { required: true, description: 'The event. What is signed are its bytes.', content: { 'application/json': { schema } } },
    security: [],
    responses: RESPONSES,
  };
}
