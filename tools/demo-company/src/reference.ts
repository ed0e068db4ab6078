import type { BusinessUnit } from '@truckroll/contract/gen/scheduling/v1/business_units';
import type { Ground, Reference } from './ground.ts';
import { drawOf, idOf, stream, type Draw } from './random.ts';
import { addressIn, phoneIn } from './words/places.ts';
import type { Given, Spelled } from './shapes/given.ts';
import { DAY, HOUR } from './time.ts';
import type { LeadSource as LeadSourceMessage } from '@truckroll/contract/gen/scheduling/v1/lead_sources';
import type { Tag as TagMessage, TagTarget } from '@truckroll/contract/gen/scheduling/v1/tags';
import type { JobLifecycle, LifecycleSpecialStatus, LifecycleStage, LifecycleType } from '@truckroll/contract/gen/scheduling/v1/job_lifecycles';
import type { JobType as JobTypeMessage } from '@truckroll/contract/gen/scheduling/v1/job_types';
import type { JobClass } from '@truckroll/contract/gen/type/v1/type';
import type { Trade } from './pricebook.ts';

/** A record of a list that other records refer to. */
function listed<M>(n: number, id: string, name: string, facts: Given<M>) {
  const ref: Reference = { id, name };
  return { n, ref, given: { ...ref, ...facts } };
}

/** Times of the n-th record of a list. `archivedAfter` counts days of the history, to which n is added. */
function timesOf({ since, founded }: Ground, n: number, archivedAfter: number | undefined | false) {
  const archivedAt = archivedAfter ? since + (archivedAfter + n) * DAY : null;
  return { archived_at: archivedAt, created_at: founded + n, updated_at: archivedAt ?? founded + n };
}

const UNITS = stream('business units');

/** Job types refer to this order. */
const UNIT_ROWS: readonly (readonly [name: string, officialName: string | null, email: string | null, has: string])[] = [
  ['HVAC Service', 'Truckroll Demo HVAC Service LLC', 'hvac@example.com', 'phone, address'],
  ['HVAC Install', 'Truckroll Demo HVAC Service LLC', 'install@example.com', 'phone'],
  ['Plumbing', 'Truckroll Demo Plumbing LLC', 'plumbing@example.com', 'phone, address'],
  ['Electrical', null, 'electrical@example.com', ''],
  ['Sales', null, null, 'phone'],
  ['Old Town Branch', 'Old Town Heating & Air', null, 'address, archived'],
  ['Wärmepumpen & Geothermal ♨️', null, null, 'archived'],
];

export type Unit = ReturnType<typeof buildUnits>[number];

export function buildUnits(ground: Ground) {
  return UNIT_ROWS.map(([name, officialName, email, has], n) => {
    const draw = drawOf(ground, UNITS, n);
    const city = draw.pick(ground.cities);
    const archivedAt = has.includes('archived') ? ground.since + (120 + n) * DAY + 36_000_500_000 : null;
    return listed<BusinessUnit>(n, idOf(ground, UNITS, n), name, {
      official_name: officialName,
      email,
      phone: has.includes('phone') ? phoneIn(city, draw) : null,
      address: has.includes('address') ? addressIn(ground, city, draw, 0, n, n === 0 ? 'Suite 300' : null) : null,
      archived_at: archivedAt,
      created_at: ground.founded,
      updated_at: archivedAt ?? ground.since + n * DAY,
    });
  });
}

const LEAD_SOURCES = stream('lead sources');

const LEAD_SOURCE_ROWS: readonly (readonly [name: string, category: string | null, archived?: boolean])[] = [
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
  return LEAD_SOURCE_ROWS.map(([name, category, archived], n) =>
    listed<LeadSourceMessage>(n, idOf(ground, LEAD_SOURCES, n), name, { category, ...timesOf(ground, n, archived && 60) }),
  );
}

const TAGS = stream('tags');

type Target = Spelled<TagTarget>;
type TagRow = readonly [name: string, color: string | null, appliesTo: readonly Target[], archived?: boolean];

const TAG_ROWS: readonly TagRow[] = [
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
  return TAG_ROWS.map(([name, color, appliesTo, archived], n) => ({
    ...listed<TagMessage>(n, idOf(ground, TAGS, n), name, { color, applies_to: appliesTo, ...timesOf(ground, n, archived && 200) }),
    appliesTo,
  }));
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

const LIFECYCLES = stream('job lifecycles');
const STATUSES = stream('lifecycle statuses');

type Stage = Spelled<LifecycleStage>;
type StatusRow = readonly [stage: Stage, name: string, special?: Spelled<LifecycleSpecialStatus>];

const OPENING: readonly StatusRow[] = [
  ['NEW', 'New'],
  ['SCHEDULED', 'Scheduled'],
];
const WORK: readonly StatusRow[] = [
  ...OPENING,
  ['IN_PROGRESS', 'In progress'],
  ['ON_HOLD', 'Waiting for parts', 'NEEDS_PARTS'],
  ['ON_HOLD', 'Return visit needed', 'NEEDS_FOLLOW_UP'],
  ['COMPLETED', 'Completed'],
  ['CANCELED', 'Canceled'],
];

const LEAD: readonly StatusRow[] = [
  ['NEW', 'New lead'],
  ['IN_PROGRESS', 'Contacted'],
  ['SCHEDULED', 'Visit booked'],
  ['ON_HOLD', 'Thinking it over', 'NEEDS_FOLLOW_UP'],
  ['WON', 'Won'],
  ['COMPLETED', 'Handed over'],
  ['LOST', 'Lost'],
  ['CANCELED', 'Duplicate'],
];

/** Job types and LEAD_LIFECYCLE refer to this order. */
const LIFECYCLE_ROWS: readonly (readonly [name: string, description: string, type: Spelled<LifecycleType>, statuses: readonly StatusRow[], archived?: true])[] =
  [
    ['Service call', 'From the call to the paid invoice.', 'JOB', WORK],
    [
      'Installation',
      'Sold work: permit, material, crew, inspection.',
      'JOB',
      [...WORK, ['ON_HOLD', 'Permit pending', 'NEEDS_APPROVAL'], ['COMPLETED', 'Inspected ✅']],
    ],
    ['Sales visit', 'A visit that ends with a yes or a no.', 'JOB', [...WORK, ['WON', 'Sold'], ['LOST', 'Not sold']]],
    ['Lead pipeline', 'Everything before there is a job.', 'LEAD', LEAD],
    ['Service call (2019)', '', 'JOB', WORK, true],
    ['Old pipeline', 'Replaced by “Lead pipeline”.', 'LEAD', OPENING, true],
  ];

const SALES_LIFECYCLE = 2;
export const LEAD_LIFECYCLE = 3;
const ARCHIVED_JOB_LIFECYCLE = 4;

export type Lifecycle = ReturnType<typeof buildLifecycles>[number];
type Status = Lifecycle['statuses'][number];

export function buildLifecycles(ground: Ground) {
  return LIFECYCLE_ROWS.map(([name, description, type, rows, archived = false], n) => {
    const statuses = rows.map(([stage, title, special], position) => ({
      id: idOf(ground, STATUSES, n, position),
      name: title,
      description: stage === 'ON_HOLD' ? 'The clock stops until somebody acts.' : '',
      stage,
      special_status: special ?? null,
      is_default: position === 0,
      is_work_complete: stage === 'COMPLETED' || stage === 'WON',
      is_lead_won: stage === 'WON' || (type === 'LEAD' && stage === 'COMPLETED'),
    }));
    const times = { created_at: ground.founded + n, updated_at: ground.founded + n * 40 * DAY };
    return { ...listed<JobLifecycle>(n, idOf(ground, LIFECYCLES, n), name, { description, type, archived, statuses, ...times }), statuses };
  });
}

/** The `choice`-th status of the stage, modulo their number; the lifecycle's first status when it lacks the stage. */
export function statusOf({ statuses }: Lifecycle, stage: Stage, choice: number): Status {
  const fitting = statuses.filter((status) => status.stage === stage);
  return (fitting[choice % Math.max(1, fitting.length)] ?? statuses[0]) as Status;
}

const JOB_TYPES = stream('job types');

const COOLING = [1, 1, 2, 4, 9, 16, 20, 18, 10, 3, 1, 1];
const HEATING = [20, 16, 8, 3, 1, 0, 0, 0, 2, 8, 15, 20];
const SPRING = [1, 3, 10, 14, 10, 3, 1, 1, 1, 0, 0, 0];
const AUTUMN = [1, 0, 0, 0, 0, 1, 2, 4, 12, 14, 8, 2];
const ALWAYS = (weight: number) => Array.from({ length: 12 }, () => weight);

type JobTypeRow = readonly [
  name: string,
  jobClass: Spelled<JobClass>,
  unit: number,
  lifecycle: number,
  minutes: number,
  trade: Trade,
  months: readonly number[],
  archived?: true,
];

const JOB_TYPE_ROWS: readonly JobTypeRow[] = [
  ['AC repair', 'SERVICE', 0, 0, 90, 'cooling', COOLING],
  ['No heat', 'SERVICE', 0, 0, 90, 'heating', HEATING],
  ['AC tune-up', 'MAINTENANCE', 0, 0, 60, 'maintenance', SPRING],
  ['Furnace tune-up', 'MAINTENANCE', 0, 0, 60, 'maintenance', AUTUMN],
  ['Plumbing repair', 'SERVICE', 2, 0, 120, 'plumbing', ALWAYS(6)],
  ['Drain cleaning', 'SERVICE', 2, 0, 60, 'plumbing', ALWAYS(4)],
  ['Electrical repair', 'SERVICE', 3, 0, 120, 'electrical', ALWAYS(4)],
  ['Repair estimate', 'ESTIMATE_REPAIR', 4, SALES_LIFECYCLE, 60, 'cooling', ALWAYS(3)],
  ['Replacement estimate', 'ESTIMATE_REPLACE', 4, SALES_LIFECYCLE, 90, 'install', ALWAYS(4)],
  ['System installation', 'INSTALL', 1, 1, 420, 'install', ALWAYS(4)],
  ['Water heater installation', 'INSTALL', 2, 1, 240, 'install', ALWAYS(2)],
  ['Warranty visit', 'WARRANTY', 0, 0, 60, 'cooling', ALWAYS(3)],
  ['Callback', 'CALLBACK', 0, 0, 60, 'cooling', ALWAYS(3)],
  ['Sales consultation', 'SALES', 4, SALES_LIFECYCLE, 60, 'install', ALWAYS(3)],
  ['Miscellaneous (old system)', 'UNKNOWN', 5, ARCHIVED_JOB_LIFECYCLE, 60, 'plumbing', ALWAYS(5), true],
  ['Duct cleaning – discontinued 清洁', 'MAINTENANCE', 5, ARCHIVED_JOB_LIFECYCLE, 180, 'maintenance', ALWAYS(2), true],
];

export type JobType = ReturnType<typeof buildJobTypes>[number];

export function buildJobTypes(ground: Ground, units: readonly Unit[], lifecycles: readonly Lifecycle[]) {
  return JOB_TYPE_ROWS.map(([name, jobClass, unitNumber, lifecycleNumber, minutes, trade, months, archived], n) => {
    const unit = units[unitNumber] as Unit;
    const lifecycle = lifecycles[lifecycleNumber] as Lifecycle;
    const opportunity = lifecycleNumber === SALES_LIFECYCLE;
    const archivedAt = archived ? ground.since + 365 * DAY + n * HOUR + 250_000 : null;
    const type = listed<JobTypeMessage>(n, idOf(ground, JOB_TYPES, n), name, {
      description: archived ? 'Kept for old jobs.' : `${name} by ${unit.ref.name}`,
      lifecycle: lifecycle.ref,
      job_class: jobClass,
      default_business_unit: unit.ref,
      duration_minutes: minutes,
      is_opportunity: opportunity,
      archived_at: archivedAt,
      created_at: ground.founded + n,
      updated_at: archivedAt ?? ground.founded + n * 30 * DAY,
    });
    return { ...type, unit, lifecycle, opportunity, jobClass, minutes, trade, months, archivedAt };
  });
}

export function buildSeasons(jobTypes: readonly JobType[]): readonly (readonly JobType[])[] {
  return Array.from({ length: 12 }, (_, month) => jobTypes.flatMap((type) => Array.from({ length: type.months[month] ?? 0 }, () => type)));
}
