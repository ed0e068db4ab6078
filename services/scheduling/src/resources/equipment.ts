import { resource } from '@truckroll/contract';
import type { Equipment } from '@truckroll/contract/gen/scheduling/v1/equipment';
import { defineTable } from '@truckroll/record-store';

export const equipment = defineTable<Equipment>({
  resource: resource('equipment'),
  table: 'equipment',
  version: 2,
  since: { search: 2 },
  columns: {
    location_id: 'location_id',
    account_id: 'account.id',
    status: 'status',
    manufacturer: 'manufacturer',
    serial_number: 'serial_number',
  },
  links: {
    // Both warranties, so that one of them must meet both bounds.
    warranty_ends: {
      table: 'equipment_warranties',
      type: 'date',
      of: ({ manufacturer_warranty_ends_on, labor_warranty_ends_on }) => [manufacturer_warranty_ends_on, labor_warranty_ends_on].filter((day) => day != null),
    },
  },
  search: {
    table: 'equipment_entries',
    of: ({ name, manufacturer, model, serial_number }) => ({ texts: [name, manufacturer, model, serial_number] }),
  },
});
