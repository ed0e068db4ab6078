export interface Violation {
  readonly kind: 'lost' | 'unasked' | 'not-verified' | 'out-of-order' | 'sequence-broken' | 'event-missing' | 'too-many-duplicates' | 'unexpected-end';
  readonly text: string;
}

export const violation = (kind: Violation['kind'], text: string): Violation => ({ kind, text });
