// Takes an erased person out of a webhook's body (decisions §19). Pure.
import type { PublicEvent } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { ERASED_PERSON, type ErasedPerson } from '@truckroll/outbox';

interface Body {
  data?: {
    account?: Reference | null;
    contact?: Reference | null;
    handled_by?: Reference | null;
    direction?: string;
    summary?: string | null;
  };
}

interface Reference {
  id: string;
  name: string;
}

/** The field that refers to a person of the kind. */
const FIELDS: Readonly<Record<string, 'account' | 'contact' | 'handled_by'>> = { accounts: 'account', contacts: 'contact', 'team-members': 'handled_by' };

function referenceIn({ data }: Body, { kind, id }: Pick<ErasedPerson, 'kind' | 'id'>): Reference | undefined {
  const field = FIELDS[kind];
  const reference = field && data?.[field];
  return reference?.id === id ? reference : undefined;
}

/** Whether the body refers to the person, by whatever name. */
export function refersTo(body: Buffer | null, person: Pick<ErasedPerson, 'kind' | 'id'>): body is Buffer {
  return body?.includes(person.id) === true && referenceIn(JSON.parse(body.toString()) as Body, person) !== undefined;
}

/** Undefined if the body does not show the person. A message to the person is the summary of an outbound interaction. */
export function withoutPerson(body: string, person: Pick<ErasedPerson, 'kind' | 'id'>): string | undefined {
  const event = JSON.parse(body) as Body;
  const { data } = event;
  const reference = referenceIn(event, person);
  if (data === undefined || reference === undefined) return undefined;
  const says = person.kind !== 'team-members' && data.direction === 'OUTBOUND' && data.summary != null && data.summary !== ERASED_PERSON;
  if (reference.name === ERASED_PERSON && !says) return undefined;
  reference.name = ERASED_PERSON;
  if (says) data.summary = ERASED_PERSON;
  return JSON.stringify(event);
}

/** The event without these people; the same object if it shows none of them. Events that arrive late show people as they were. */
export function eventWithout(people: readonly ErasedPerson[], event: PublicEvent): PublicEvent {
  let result = event;
  for (const person of people) {
    if (person.companyId !== event.company_id || !result.body.includes(person.id)) continue;
    const body = withoutPerson(result.body.toString(), person);
    if (body === undefined) continue;
    const customer_name = person.kind === 'accounts' ? ERASED_PERSON : result.customer_name;
    result = { ...result, body: Buffer.from(body), customer_name };
  }
  return result;
}
