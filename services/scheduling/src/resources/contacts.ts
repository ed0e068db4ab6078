import { resource } from '@truckroll/contract';
import { ContactChannelType, type Contact } from '@truckroll/contract/gen/scheduling/v1/contacts';
import { defineTable } from '@truckroll/record-store';
import { checkContact } from '../contacts/channels.ts';
import { named } from '../names/named.ts';

export const contacts = defineTable<Contact>({
  resource: resource('contacts'),
  table: 'contacts',
  version: 2,
  since: { search: 2 },
  columns: {
    account_id: 'account.id',
    archived: 'archived',
  },
  search: {
    table: 'contact_entries',
    of: ({ name, title, channels }) => {
      const valuesOf = (mail: boolean): string[] => channels.flatMap(({ type, value }) => ((type === ContactChannelType.EMAIL) === mail ? [value] : []));
      return { texts: [name, title], phones: valuesOf(false), emails: valuesOf(true) };
    },
  },
  check: checkContact,
  afterChange: named('contacts'),
});
