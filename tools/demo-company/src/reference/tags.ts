import type { Tag as Message, TagTarget } from '@truckroll/contract/gen/scheduling/v1/tags';
import { idOf, type Ground, type Reference } from '../ground.ts';
import { stream, type Draw } from '../random/keyed.ts';
import type { Given, Spelled } from '../shapes/given.ts';
import { DAY } from '../time/instant.ts';

const TAGS = stream('tags');

type Target = Spelled<TagTarget>;
type Row = readonly [name: string, color: string | null, appliesTo: readonly Target[], archived?: boolean];

const ROWS: readonly Row[] = [
  ['VIP', '#D4AF37', ['ACCOUNT', 'JOB']],
  ['Membership', '#2E86AB', ['ACCOUNT']],
  ['Slow payer', '#A23B72', ['ACCOUNT']],
  ['Gate code needed', null, ['LOCATION', 'JOB']],
  ['Dog on site 🐕', '#8D6E63', ['LOCATION', 'JOB']],
  ['After hours', '#263238', ['JOB']],
  ['Permit required', '#F18F01', ['JOB', 'ESTIMATE']],
  ['Financing offered', '#3B7A57', ['ESTIMATE']],
  ['Rebate eligible', null, ['ESTIMATE', 'JOB']],
  ['Habla español', '#C73E1D', ['TEAM_MEMBER', 'ACCOUNT']],
  ['EPA 608', '#4CAF50', ['TEAM_MEMBER']],
  ['Apprentice', null, ['TEAM_MEMBER']],
  ['Old price list', '#9E9E9E', ['ACCOUNT', 'JOB'], true],
  ['Imported', null, [], true],
];

export type Tag = ReturnType<typeof buildTags>[number];

export function buildTags(ground: Ground) {
  return ROWS.map(([name, color, appliesTo, archived = false], n) => {
    const ref: Reference = { id: idOf(ground, TAGS, n), name };
    const archivedAt = archived ? ground.since + (200 + n) * DAY : null;
    const given: Given<Message> = {
      ...ref,
      color,
      applies_to: appliesTo,
      archived_at: archivedAt,
      created_at: ground.founded + n,
      updated_at: archivedAt ?? ground.founded + n,
    };
    return { n, ref, appliesTo, given };
  });
}

/** Up to two of the tags that fit the target, in their own order. Most records have none, unless they must have one. */
export function pickTags(tags: readonly Tag[], target: Target, draw: Draw, must = false): Reference[] {
  const wanted = draw.next();
  if (wanted < 0.7 && !must) return [];
  const fitting = tags.filter(({ appliesTo }) => appliesTo.includes(target));
  const first = draw.below(fitting.length);
  const second = wanted < 0.92 ? first : draw.below(fitting.length);
  return fitting.filter((_, n) => n === first || n === second).map(({ ref }) => ref);
}
