// What stays of the record of an erased person (decisions §19). Pure.
import type { Account } from '@truckroll/contract/gen/scheduling/v1/accounts';
import type { Contact } from '@truckroll/contract/gen/scheduling/v1/contacts';
import { TeamMemberStatus, type TeamMember } from '@truckroll/contract/gen/scheduling/v1/team_members';
import { ERASED_FIRST_NAME, ERASED_LAST_NAME, ERASED_PERSON } from '@truckroll/outbox';

/**
 * Fields that a person is known by. Those with a format cannot hold the words, and are removed. A team member works for the company no more,
 * which no import can say afterwards.
 */
export const ERASED = {
  accounts: { name: ERASED_PERSON, company_name: null, phone: null, email: null, billing_address: null } satisfies Partial<Account>,
  contacts: { name: ERASED_PERSON, first_name: null, last_name: null, title: null, primary_channel: null, channels: [] } satisfies Partial<Contact>,
  'team-members': {
    name: ERASED_PERSON,
    first_name: ERASED_FIRST_NAME,
    last_name: ERASED_LAST_NAME,
    email: null,
    phone: null,
    title: null,
    status: TeamMemberStatus.INACTIVE,
    assignable: false,
  } satisfies Partial<TeamMember>,
};

/** The record without the person; undefined if it is so already. `at` in microseconds. */
export function erased<R extends { updated_at: number }>(record: R, kind: keyof typeof ERASED, at: number): R | undefined {
  const fields = ERASED[kind];
  const known = Object.entries(fields).some(([field, value]) => {
    const own = record[field as keyof R] as unknown;
    return Array.isArray(own) ? own.length > 0 : (own ?? null) !== value;
  });
  return known ? { ...record, ...fields, updated_at: at } : undefined;
}

/** Names, e-mail addresses and telephone numbers of the record, each once. */
export function knownBy(record: object): string[] {
  const { name, first_name, last_name, company_name, phone, email, channels = [] } = record as Partial<Account> & Partial<Contact>;
  // One of the two alone is in too many texts.
  const both = first_name && last_name && `${first_name} ${last_name}`;
  const all = [name, both, company_name, phone, email, ...channels.map(({ value }) => value)];
  return [...new Set(all.filter((each) => each != null && each !== '' && each !== ERASED_PERSON))] as string[];
}
