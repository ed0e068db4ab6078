import { eventTypesOf } from '@truckroll/contract';
import { withMarked } from './marked.ts';

/** The page with the events that endpoints can subscribe to, from the contract. Throws when the page has no marks. */
export function withEvents(page: string): string {
  const rows = eventTypesOf.subscription.map(({ type, body }) => `| \`${type}\` | \`${body.typeName}\` |`);
  return withMarked(page, 'events', ['| Type | Value |', '|---|---|', ...rows].join('\n'));
}
