import type { JobType as Message } from '@truckroll/contract/gen/scheduling/v1/job_types';
import type { JobClass } from '@truckroll/contract/gen/type/v1/type';
import { idOf, type Ground, type Reference } from '../ground.ts';
import { stream } from '../random/keyed.ts';
import { DAY, HOUR } from '../time/instant.ts';
import type { Trade } from './pricebook.ts';
import type { Unit } from './business-units.ts';
import { ARCHIVED_JOB_LIFECYCLE, SALES_LIFECYCLE, type Lifecycle } from './job-lifecycles.ts';
import type { Given, Spelled } from '../shapes/given.ts';

const JOB_TYPES = stream('job types');

const COOLING = [1, 1, 2, 4, 9, 16, 20, 18, 10, 3, 1, 1];
const HEATING = [20, 16, 8, 3, 1, 0, 0, 0, 2, 8, 15, 20];
const SPRING = [1, 3, 10, 14, 10, 3, 1, 1, 1, 0, 0, 0];
const AUTUMN = [1, 0, 0, 0, 0, 1, 2, 4, 12, 14, 8, 2];
const ALWAYS = (weight: number) => Array.from({ length: 12 }, () => weight);

interface Row {
  readonly name: string;
  readonly jobClass: Spelled<JobClass>;
  readonly unit: number;
  readonly lifecycle: number;
  readonly minutes: number;
  readonly trade: Trade;
  readonly months: readonly number[];
  readonly archived?: boolean;
}

const row = (
  name: string,
  jobClass: Spelled<JobClass>,
  unit: number,
  lifecycle: number,
  minutes: number,
  trade: Trade,
  months: readonly number[],
  archived = false,
): Row => ({ name, jobClass, unit, lifecycle, minutes, trade, months, archived });

const ROWS: readonly Row[] = [
  row('AC repair', 'SERVICE', 0, 0, 90, 'cooling', COOLING),
  row('No heat', 'SERVICE', 0, 0, 90, 'heating', HEATING),
  row('AC tune-up', 'MAINTENANCE', 0, 0, 60, 'maintenance', SPRING),
  row('Furnace tune-up', 'MAINTENANCE', 0, 0, 60, 'maintenance', AUTUMN),
  row('Plumbing repair', 'SERVICE', 2, 0, 120, 'plumbing', ALWAYS(6)),
  row('Drain cleaning', 'SERVICE', 2, 0, 60, 'plumbing', ALWAYS(4)),
  row('Electrical repair', 'SERVICE', 3, 0, 120, 'electrical', ALWAYS(4)),
  row('Repair estimate', 'ESTIMATE_REPAIR', 4, SALES_LIFECYCLE, 60, 'cooling', ALWAYS(3)),
  row('Replacement estimate', 'ESTIMATE_REPLACE', 4, SALES_LIFECYCLE, 90, 'install', ALWAYS(4)),
  row('System installation', 'INSTALL', 1, 1, 420, 'install', ALWAYS(4)),
  row('Water heater installation', 'INSTALL', 2, 1, 240, 'install', ALWAYS(2)),
  row('Warranty visit', 'WARRANTY', 0, 0, 60, 'cooling', ALWAYS(3)),
  row('Callback', 'CALLBACK', 0, 0, 60, 'cooling', ALWAYS(3)),
  row('Sales consultation', 'SALES', 4, SALES_LIFECYCLE, 60, 'install', ALWAYS(3)),
  row('Miscellaneous (old system)', 'UNKNOWN', 5, ARCHIVED_JOB_LIFECYCLE, 60, 'plumbing', ALWAYS(5), true),
  row('Duct cleaning – discontinued 清洁', 'MAINTENANCE', 5, ARCHIVED_JOB_LIFECYCLE, 180, 'maintenance', ALWAYS(2), true),
];

export type JobType = ReturnType<typeof buildJobTypes>[number];

export function buildJobTypes(ground: Ground, units: readonly Unit[], lifecycles: readonly Lifecycle[]) {
  return ROWS.map((row, n) => {
    const unit = units[row.unit] as Unit;
    const lifecycle = lifecycles[row.lifecycle] as Lifecycle;
    const ref: Reference = { id: idOf(ground, JOB_TYPES, n), name: row.name };
    const opportunity = row.lifecycle === SALES_LIFECYCLE;
    const archivedAt = row.archived ? ground.since + 365 * DAY + n * HOUR + 250_000 : null;
    const given: Given<Message> = {
      ...ref,
      description: row.archived ? 'Kept for old jobs.' : `${row.name} by ${unit.ref.name}`,
      lifecycle: lifecycle.ref,
      job_class: row.jobClass,
      default_business_unit: unit.ref,
      duration_minutes: row.minutes,
      is_opportunity: opportunity,
      archived_at: archivedAt,
      created_at: ground.founded + n,
      updated_at: archivedAt ?? ground.founded + n * 30 * DAY,
    };
    const { jobClass, minutes, trade, months } = row;
    return { n, ref, given, unit, lifecycle, opportunity, jobClass, minutes, trade, months, archivedAt };
  });
}

export function buildSeasons(jobTypes: readonly JobType[]): readonly (readonly JobType[])[] {
  return Array.from({ length: 12 }, (_, month) => jobTypes.flatMap((type) => Array.from({ length: type.months[month] ?? 0 }, () => type)));
}
