import { resource } from '@truckroll/contract';
import type { BusinessUnit } from '@truckroll/contract/gen/scheduling/v1/business_units';
import { defineTable } from '@truckroll/record-store';
import { named } from '../names/named.ts';

export const businessUnits = defineTable<BusinessUnit>({
  resource: resource('business-units'),
  table: 'business_units',
  columns: {
    archived: { type: 'boolean', of: ({ archived_at }) => archived_at != null },
  },
  afterChange: named('business-units'),
});
