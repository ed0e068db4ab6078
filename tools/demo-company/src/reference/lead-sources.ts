import type { LeadSource as Message } from '@truckroll/contract/gen/scheduling/v1/lead_sources';
import { idOf, type Ground, type Reference } from '../ground.ts';
import { stream } from '../random/keyed.ts';
import type { Given } from '../shapes/given.ts';
import { DAY } from '../time/instant.ts';

const LEAD_SOURCES = stream('lead sources');

const ROWS: readonly (readonly [name: string, category: string | null, archived?: boolean])[] = [
  ['Google Search', 'Online'],
  ['Website form', 'Online'],
  ['Facebook', 'Online'],
  ['Referral', 'Word of mouth'],
  ['Repeat customer', 'Word of mouth'],
  ['Truck seen on the street', 'Offline'],
  ['Postcard: “$49 tune-up” ✉️', 'Offline'],
  ['Home show', 'Events'],
  ['Unknown', null],
  ['Yellow Pages', 'Offline', true],
  ['Radio 98.9 ¡La Voz!', null, true],
];

export type LeadSource = ReturnType<typeof buildLeadSources>[number];

export function buildLeadSources(ground: Ground) {
  return ROWS.map(([name, category, archived = false], n) => {
    const ref: Reference = { id: idOf(ground, LEAD_SOURCES, n), name };
    const archivedAt = archived ? ground.since + (60 + n) * DAY : null;
    const given: Given<Message> = {
      ...ref,
      category,
      archived_at: archivedAt,
      created_at: ground.founded + n,
      updated_at: archivedAt ?? ground.founded + n,
    };
    return { n, ref, given };
  });
}
