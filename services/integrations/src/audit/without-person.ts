// Takes an erased person out of what an entry of the audit trail shows (decisions §19). Pure.
import { ERASED_FIRST_NAME, ERASED_LAST_NAME, ERASED_PERSON } from '@truckroll/outbox';
import { ERASED_DOMAIN } from '../people.ts';

/** Fields by which entries show a user or a record, and what an erased person has in them. */
const FIELDS = {
  name: () => ERASED_PERSON,
  displayName: () => ERASED_PERSON,
  firstName: () => ERASED_FIRST_NAME,
  lastName: () => ERASED_LAST_NAME,
  email: (id: string) => id + ERASED_DOMAIN,
  subject: (id: string) => `erased ${id}`,
} satisfies Record<string, (id: string) => string>;

const INDEX = /^\d+$/;

/** `json` without the names of the person, and without this e-mail address of theirs; the same value if it shows none. */
export function entryWithout<T extends string | null | undefined>(json: T, id: string, email?: string): T | string {
  if (json == null || !(json.includes(id) || (email !== undefined && json.includes(email)))) return json;
  let changed = false;
  const replaced = (value: string): string => {
    changed = true;
    return value;
  };
  const shown: unknown = JSON.parse(json, (key, value: unknown) => {
    // Endpoints list the addresses of users alone. In an object with an id, it is the address of another user.
    if (email !== undefined && value === email && INDEX.test(key)) return replaced(FIELDS.email(id));
    const person = value as Record<string, unknown> | null;
    if (typeof person !== 'object' || person?.['id'] !== id) return value;
    for (const [field, erased] of Object.entries(FIELDS)) {
      if (typeof person[field] === 'string' && person[field] !== erased(id)) person[field] = replaced(erased(id));
    }
    return person;
  });
  return changed ? JSON.stringify(shown) : json;
}
