import { resource, type JsonProblem } from '@truckroll/contract';
import type { Location } from '@truckroll/contract/gen/scheduling/v1/locations';
import { defineTable } from '@truckroll/record-store';
import { addressTexts } from './address.ts';
import { named } from '../names/named.ts';

export const locations = defineTable<Location>({
  resource: resource('locations'),
  table: 'locations',
  version: 2,
  since: { search: 2 },
  columns: { address_postal_code: 'address.postal_code' },
  links: {
    account_id: { table: 'location_accounts', of: ({ accounts }) => accounts.flatMap(({ account }) => account?.id ?? []) },
  },
  search: { table: 'location_entries', of: ({ name, address }) => ({ texts: [name, ...addressTexts(address)] }) },
  check: checkLocation,
  afterChange: named('locations'),
});

/** A location may name an account only once (decisions §12). */
function checkLocation({ accounts }: Location): JsonProblem[] {
  const seen = new Set<string | undefined>();
  return accounts.flatMap(({ account }, i): JsonProblem[] => {
    const again = seen.has(account?.id);
    seen.add(account?.id);
    return again ? [{ field: `accounts[${i}].account.id`, code: 'INVALID_FORMAT', message: 'Leave it out: the account is already in the list.' }] : [];
  });
}
