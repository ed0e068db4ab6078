// What is wrong with a body beyond its single fields, told with the rest: every failure of a request is listed at once.
import { checkKeyExpiry, checkRanges, checkRecoveryRange, now, type ErrorDetail, type JsonProblem, type Operation, type Shape } from '@truckroll/contract';
import { WebhookServiceService } from '@truckroll/contract/gen/integrations/v1/webhooks';
import type { Exchange } from '../http/exchange.ts';
import type { Services } from '../services.ts';

type Message = Record<string, unknown>;

interface Rule {
  /** The fields that it compares, with each other or with the time. */
  of: readonly string[];
  check(message: any): JsonProblem[];
}

const RULES: Readonly<Record<string, Rule>> = {
  CreateApiKey: { of: ['expiresAt'], check: ({ expires_at }) => checkKeyExpiry(expires_at, now()) },
  RecoverWebhook: { of: ['since', 'until'], check: (message) => checkRecoveryRange(message, now()) },
};

/** `found` is what is wrong with single fields: a rule over one that could not be read says nothing. */
export function brokenRules({ name }: Operation, body: Shape, message: Message, found: readonly JsonProblem[]): JsonProblem[] {
  const unread = new Set(found.map(({ field }) => field));
  const ranges = checkRanges(body, message).filter(({ field }) => !unread.has(field) && !unread.has(body.byName.get(field)?.after ?? ''));
  const rule = RULES[name];
  return rule === undefined || rule.of.some((field) => unread.has(field)) ? ranges : [...ranges, ...rule.check(message)];
}

/**
 * What the owner of endpoints would refuse of the address in a body that is refused anyway: it alone knows what its
 * operator allows. Nothing where it cannot be asked, or does not know the question yet.
 */
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
