import { resource } from '@truckroll/contract';
import type { TeamMember } from '@truckroll/contract/gen/scheduling/v1/team_members';
import { defineTable } from '@truckroll/record-store';
import { named } from '../names/named.ts';

export const teamMembers = defineTable<TeamMember>({
  resource: resource('team-members'),
  table: 'team_members',
  version: 2,
  since: { search: 2 },
  columns: {
    status: 'status',
    role: 'role',
    business_unit_id: 'business_unit.id',
    assignable: 'assignable',
  },
  search: { table: 'team_member_entries', of: ({ name, email, phone }) => ({ texts: [name], phones: [phone], emails: [email] }) },
  afterChange: named('team-members'),
});
