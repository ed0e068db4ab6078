import { resource } from '@truckroll/contract';
import type { TeamMember } from '@truckroll/contract/gen/scheduling/v1/team_members';
import { defineTable } from '@truckroll/record-store';
import { named } from '../names/named.ts';

export const teamMembers = defineTable<TeamMember>({
  resource: resource('team-members'),
  table: 'team_members',
  columns: {
    status: 'status',
    role: 'role',
    business_unit_id: 'business_unit.id',
    assignable: 'assignable',
  },
  afterChange: named('team-members'),
});
