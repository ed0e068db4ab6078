// Checks a body beyond its single fields. Its problems are added to the fields' problems: an answer lists every failure of a request.
import {
  checkExpiry,
  checkExpiryChange,
  checkRanges,
  checkRecoveryRange,
  checkWebhookHeaders,
  checkWebhookState,
  eventTypesOf,
  now,
  type DetailCode,
  type ErrorDetail,
  type JsonProblem,
  type Operation,
  type Shape,
} from '@truckroll/contract';
import {
  WebhookServiceService,
  type CreateWebhookRequest,
  type UpdateWebhookRequest,
  type WebhookHeaderValue,
} from '@truckroll/contract/gen/integrations/v1/webhooks';
import type { Exchange } from '../http/exchange.ts';
import type { Services } from '../services.ts';

type Message = Record<string, unknown>;

interface Rule {
  /** The fields that the rule compares with each other or with the current time. */
  of: readonly string[];
  check(message: Message): JsonProblem[];
}

const STATE: Rule = { of: ['enabled', 'state', 'resumeSkipped'], check: checkWebhookState };
type Expiring = { expires_at?: number | null };
const EXPIRY: Rule = { of: ['expiresAt'], check: ({ expires_at }: Expiring) => checkExpiry(expires_at, now()) };
const EXPIRY_CHANGE: Rule = { of: ['expiresAt'], check: ({ expires_at }: Expiring) => checkExpiryChange(expires_at, now()) };
/** Judges each header by itself, so that others may be unreadable. */
const HEADERS: Rule = { of: [], check: ({ headers }) => checkWebhookHeaders(readableHeaders(headers)) };

const RULES: Readonly<Record<string, readonly Rule[]>> = {
  CreateApiKey: [EXPIRY],
  RecoverWebhook: [{ of: ['since', 'until'], check: (message) => checkRecoveryRange(message as { since: number; until?: number | null }, now()) }],
  CreateWebhook: [STATE, HEADERS, EXPIRY],
  UpdateWebhook: [STATE, HEADERS, EXPIRY_CHANGE],
};

/** Skips rules over a field that could not be read: `found` has the problems of single fields. */
export function brokenRules({ name }: Operation, body: Shape, message: Message, found: readonly JsonProblem[]): JsonProblem[] {
  const unread = new Set(found.flatMap(({ field }) => [field, field.replace(/[.[].*$/s, '')]));
  const ranges = checkRanges(body, message).filter(({ field }) => !unread.has(field) && !unread.has(body.byName.get(field)?.after ?? ''));
  const rules = (RULES[name] ?? []).filter(({ of }) => !of.some((field) => unread.has(field)));
  return [
    ...ranges,
    ...unreported(
      rules.flatMap(({ check }) => check(message)),
      found,
    ),
  ];
}

/** The headers of a body; one that could not be read has an empty name, and a problem already. */
function readableHeaders(headers: unknown): WebhookHeaderValue[] {
  const { values = [] } = (headers ?? {}) as { values?: readonly Partial<WebhookHeaderValue>[] };
  return values.map(({ name = '', value }) => ({ name, value }));
}

/** Leaves out problems of fields that have one already, or are part of one that has. */
function unreported<P extends { field: string }>(more: readonly P[], found: readonly { field: string }[]): P[] {
  const parents = found.flatMap(({ field }) => [`${field}.`, `${field}[`]);
  return more.filter(({ field }) => !found.some((known) => known.field === field) && !parents.some((parent) => field.startsWith(parent)));
}

/** Operations whose body has parts of a webhook that only integrations can judge: the target, the filter, stored headers, users to alert. */
const OF_WEBHOOKS = new Set(['CreateWebhook', 'UpdateWebhook', 'PreviewWebhookFilter']);

const ALL_TYPES = eventTypesOf.subscription.map(({ type }) => type);

/** For a body that is rejected anyway: what integrations finds wrong with it too; nothing if it cannot answer. `id` is that of the path. */
export function compileWebhookCheck({ name }: Operation, { channels }: Services) {
  const client = channels.integrations.client(WebhookServiceService);
  return async (message: Message, id: unknown, problems: readonly ErrorDetail[], { principal, requestId }: Exchange): Promise<ErrorDetail[]> => {
    if (!OF_WEBHOOKS.has(name) || principal?.user_id == null) return [];
    const { company_id, time_zone, user_id } = principal;
    const found = problems.filter(({ location }) => location === 'body');
    const { url, filter, event_types, alert_emails } = message as Partial<CreateWebhookRequest & UpdateWebhookRequest>;
    // A filter that is wrong for all types together is wrong for each of them.
    const types = found.some(({ field }) => /^eventTypes\b/.test(field)) ? ALL_TYPES : event_types;
    const request = {
      caller: { company_id, time_zone, user_id },
      id: typeof id === 'string' ? id : null,
      url: found.some(({ field }) => field === 'url') ? null : url,
      headers: message.headers == null ? null : { values: readableHeaders(message.headers) },
      alert_emails: alert_emails ?? null,
      event_types: Array.isArray(types) ? { values: types } : (types ?? null),
      filter,
    };
    const { problems: more } = await client.checkWebhook(request, { requestId }).catch(() => ({ problems: [] }));
    return unreported(more, found).map(({ field, code, message: text }) => ({ location: 'body', field, code: code as DetailCode, message: text }));
  };
}
