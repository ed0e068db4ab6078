import { resource } from '@truckroll/contract';
import type { LeadSource } from '@truckroll/contract/gen/scheduling/v1/lead_sources';
import { defineTable } from '@truckroll/record-store';
import { named } from '../names/named.ts';

export const leadSources = defineTable<LeadSource>({
  resource: resource('lead-sources'),
  table: 'lead_sources',
  // Categories are compared as NFC.
  version: 2,
  columns: {
    archived: { type: 'boolean', of: ({ archived_at }) => archived_at != null },
    category: 'category',
  },
  afterChange: named('lead-sources'),
});
