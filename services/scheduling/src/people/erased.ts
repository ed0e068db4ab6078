// What stays of the record of an erased person (decisions §19). Pure.
import type { Account } from '@truckroll/contract/gen/scheduling/v1/accounts';
import type { Contact } from '@truckroll/contract/gen/scheduling/v1/contacts';
import { ERASED_PERSON } from '@truckroll/outbox';

/** Fields that a person is known by. Those with a format cannot hold the words, and are removed. */
export const ERASED = {
  accounts: { name: ERASED_PERSON, company_name: null, phone: null, email: null, billing_address: null } satisfies Partial<Account>,
  contacts: { name: ERASED_PERSON, first_name: null, last_name: null, title: null, primary_channel: null, channels: [] } satisfies Partial<Contact>,
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
