// Checks a body beyond its single fields. Its problems are added to the fields' problems: an answer lists every failure of a request.
import {
  checkKeyExpiry,
  checkRanges,
  checkRecoveryRange,
  checkWebhookHeaders,
  checkWebhookState,
  now,
  type ErrorDetail,
  type JsonProblem,
  type Operation,
  type Shape,
} from '@truckroll/contract';
import { WebhookServiceService, type WebhookHeaders } from '@truckroll/contract/gen/integrations/v1/webhooks';
import type { Exchange } from '../http/exchange.ts';
import type { Services } from '../services.ts';

type Message = Record<string, unknown>;

interface Rule {
  /** The fields that the rule compares with each other or with the current time. */
  of: readonly string[];
  check(message: Message): JsonProblem[];
}

const STATE: Rule = { of: ['enabled', 'state', 'resumeSkipped'], check: checkWebhookState };
const HEADERS: Rule = { of: ['headers'], check: ({ headers }) => checkWebhookHeaders((headers as WebhookHeaders | undefined)?.values ?? []) };

const RULES: Readonly<Record<string, readonly Rule[]>> = {
  CreateApiKey: [{ of: ['expiresAt'], check: ({ expires_at }) => checkKeyExpiry(expires_at as number | null | undefined, now()) }],
  RecoverWebhook: [{ of: ['since', 'until'], check: (message) => checkRecoveryRange(message as { since: number; until?: number | null }, now()) }],
  CreateWebhook: [STATE, HEADERS],
  UpdateWebhook: [STATE, HEADERS],
};

/** Skips rules over a field that could not be read: `found` has the problems of single fields. */
export function brokenRules({ name }: Operation, body: Shape, message: Message, found: readonly JsonProblem[]): JsonProblem[] {
  const unread = new Set(found.flatMap(({ field }) => [field, field.replace(/[.[].*$/s, '')]));
  const ranges = checkRanges(body, message).filter(({ field }) => !unread.has(field) && !unread.has(body.byName.get(field)?.after ?? ''));
  const rules = (RULES[name] ?? []).filter(({ of }) => !of.some((field) => unread.has(field)));
  return [...ranges, ...rules.flatMap(({ check }) => check(message))];
}

/** For a body that is rejected anyway: asks integrations whether its operator allows the address. No problem if it cannot answer. */
export function compileTargetCheck({ owner }: Operation, body: Shape | undefined, { channels }: Services) {
  const field = owner === 'integrations' ? body?.fields.find(({ format }) => format === 'url') : undefined;
  const client = channels.integrations.client(WebhookServiceService);
  return async (message: Message, problems: readonly ErrorDetail[], { requestId }: Exchange): Promise<ErrorDetail[]> => {
    const url = field && message[field.name];
    if (typeof url !== 'string' || problems.some(({ location, field: wrong }) => location === 'body' && wrong === field?.name)) return [];
    const { problem } = await client.checkWebhookTarget({ url }, { requestId }).catch(() => ({ problem: null }));
    return problem == null ? [] : [{ location: 'body', field: 'url', code: 'INVALID_FORMAT', message: problem }];
  };
}
