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

type Person = Pick<ErasedPerson, 'kind' | 'id'>;

/** A body, and the ids of people that its texts name without a reference. */
export interface StoredBody {
  readonly body: Buffer | null;
  readonly people?: string | null | undefined;
}

function referenceIn({ data }: Body, { kind, id }: Person): Reference | undefined {
  const field = FIELDS[kind];
  const reference = field && data?.[field];
  return reference?.id === id ? reference : undefined;
}

const isNamed = ({ people }: StoredBody, { id }: Person): boolean => people?.includes(id) === true;

/** Whether the body shows the person, by whatever name. */
export function shows({ body, people }: StoredBody, person: Person): boolean {
  if (body === null) return false;
  return isNamed({ body, people }, person) || (body.includes(person.id) && referenceIn(JSON.parse(body.toString()) as Body, person) !== undefined);
}

/**
 * Undefined if the body does not show the person by a name. A message to the person, or one that names the person, is the summary of an
 * outbound interaction.
 */
export function withoutPerson(stored: StoredBody, person: Person): Buffer | undefined {
  if (!shows(stored, person)) return undefined;
  const event = JSON.parse(String(stored.body)) as Body;
  const { data } = event;
  const reference = referenceIn(event, person);
  const isMessage = data?.direction === 'OUTBOUND' && data.summary != null && (person.kind !== 'team-members' || isNamed(stored, person));
  const says = isMessage && data.summary !== ERASED_PERSON;
  if (!says && (reference === undefined || reference.name === ERASED_PERSON)) return undefined;
  if (reference !== undefined) reference.name = ERASED_PERSON;
  if (says) data.summary = ERASED_PERSON;
  return Buffer.from(JSON.stringify(event));
}

/** The event without these people; the same object if it shows none of them. Events that arrive late show people as they were. */
export function eventWithout(people: readonly ErasedPerson[], event: PublicEvent): PublicEvent {
  let result = event;
  for (const person of people) {
    if (person.companyId !== event.company_id) continue;
    const body = withoutPerson(result, person);
    if (body === undefined) continue;
    const customer_name = person.kind === 'accounts' ? ERASED_PERSON : result.customer_name;
    result = { ...result, body, customer_name };
  }
  return result;
}
