import { resource } from '@truckroll/contract';
import type { Location } from '@truckroll/contract/gen/scheduling/v1/locations';
import { defineTable, inTurn } from '@truckroll/record-store';
import { afterLocations } from '../consequences.ts';
import { named } from '../events.ts';

export const locations = defineTable<Location>({
  resource: resource('locations'),
  table: 'locations',
  columns: { address_postal_code: 'address.postal_code' },
  links: {
    account_id: { table: 'location_accounts', of: ({ accounts }) => accounts.flatMap(({ account }) => account?.id ?? []) },
  },
  afterChange: inTurn(named('locations'), afterLocations),
});
