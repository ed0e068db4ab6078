import { resource } from '@truckroll/contract';
import type { Account } from '@truckroll/contract/gen/scheduling/v1/accounts';
import { defineTable } from '@truckroll/record-store';
import { named } from '../names/named.ts';
import { addressTexts } from './address.ts';
import { keeping, refreshAccountLocations } from './links.ts';

export const accounts = defineTable<Account>({
  resource: resource('accounts'),
  table: 'accounts',
  version: 2,
  since: { search: 2 },
  columns: {
    type: 'type',
    archived: 'archived',
    lead_source_id: 'lead_source.id',
  },
  links: {
    tag_id: { table: 'account_tags', of: ({ tags }) => tags.map(({ id }) => id) },
    location_id: { table: 'account_locations', maintained: keeping(refreshAccountLocations) },
  },
  search: {
    table: 'account_entries',
    of: ({ name, company_name, phone, email, billing_address }) => ({
      texts: [name, company_name, ...addressTexts(billing_address)],
      phones: [phone],
      emails: [email],
    }),
  },
  afterChange: named('accounts'),
});
