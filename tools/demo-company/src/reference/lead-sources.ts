import { idOf, type Ground, type Reference } from '../ground.ts';
import { stream } from '../random/keyed.ts';
import { DAY, instantText, instantTextOrNull } from '../time/instant.ts';

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
    const id = idOf(ground, LEAD_SOURCES, n);
    const ref: Reference = { id, name };
    const archivedAt = archived ? ground.since + (60 + n) * DAY : null;
    const record = {
      id,
      name,
      category,
      archived_at: instantTextOrNull(archivedAt),
      created_at: instantText(ground.founded + n),
      updated_at: instantText(archivedAt ?? ground.founded + n),
    };
    return { n, ref, record };
  });
}
