import { resource } from '@truckroll/contract';
import type { Contact } from '@truckroll/contract/gen/scheduling/v1/contacts';
import { defineTable } from '@truckroll/record-store';
import { checkContact } from '../contacts/channels.ts';
import { named } from '../names/named.ts';

export const contacts = defineTable<Contact>({
  resource: resource('contacts'),
  table: 'contacts',
  columns: {
    account_id: 'account.id',
    archived: 'archived',
  },
  check: checkContact,
  afterChange: named('contacts'),
});
