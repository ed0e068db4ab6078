export type Kind =
  | 'acknowledged-without-effect'
  | 'key-without-effect'
  | 'effect-without-key'
  | 'event-without-write'
  | 'two-effects-of-a-key'
  | 'two-keys-of-an-effect'
  | 'answer-differs-from-effect'
  | 'answers-differ'
  | 'executed-twice'
  | 'refusal-unexplained'
  | 'unexpected-answer'
  | 'sequence-broken'
  | 'order-against-time'
  | 'stale-write'
  | 'duplicate-differs'
  | 'visit-differs-from-events'
  | 'assignment-differs-from-events'
  | 'state-topic-differs'
  | 'service-request-differs'
  | 'notification-differs'
  | 'message-unreadable'
  | 'event-unpublished'
  | 'unexpected-end'
  | 'read-model-differs';

export interface Violation {
  readonly kind: Kind;
  readonly text: string;
}

export const violation = (kind: Kind, text: string): Violation => ({ kind, text });
