import type { JobLifecycle, LifecycleSpecialStatus, LifecycleStage, LifecycleType } from '@truckroll/contract/gen/scheduling/v1/job_lifecycles';
import { idOf, type Ground, type Reference } from '../ground.ts';
import { stream } from '../random/keyed.ts';
import type { Given, Spelled } from '../shapes/given.ts';
import { DAY } from '../time/instant.ts';

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

interface Row {
  readonly name: string;
  readonly description: string;
  readonly type: Spelled<LifecycleType>;
  readonly archived?: boolean;
  readonly statuses: readonly StatusRow[];
}

/** Job types and LEAD_LIFECYCLE refer to this order. */
const ROWS: readonly Row[] = [
  { name: 'Service call', description: 'From the call to the paid invoice.', type: 'JOB', statuses: WORK },
  {
    name: 'Installation',
    description: 'Sold work: permit, material, crew, inspection.',
    type: 'JOB',
    statuses: [...WORK, ['ON_HOLD', 'Permit pending', 'NEEDS_APPROVAL'], ['COMPLETED', 'Inspected ✅']],
  },
  {
    name: 'Sales visit',
    description: 'A visit that ends with a yes or a no.',
    type: 'JOB',
    statuses: [...WORK, ['WON', 'Sold'], ['LOST', 'Not sold']],
  },
  {
    name: 'Lead pipeline',
    description: 'Everything before there is a job.',
    type: 'LEAD',
    statuses: [
      ['NEW', 'New lead'],
      ['IN_PROGRESS', 'Contacted'],
      ['SCHEDULED', 'Visit booked'],
      ['ON_HOLD', 'Thinking it over', 'NEEDS_FOLLOW_UP'],
      ['WON', 'Won'],
      ['COMPLETED', 'Handed over'],
      ['LOST', 'Lost'],
      ['CANCELED', 'Duplicate'],
    ],
  },
  { name: 'Service call (2019)', description: '', type: 'JOB', archived: true, statuses: WORK },
  {
    name: 'Old pipeline',
    description: 'Replaced by “Lead pipeline”.',
    type: 'LEAD',
    archived: true,
    statuses: OPENING,
  },
];

export const SALES_LIFECYCLE = 2;
export const LEAD_LIFECYCLE = 3;
export const ARCHIVED_JOB_LIFECYCLE = 4;

export type Lifecycle = ReturnType<typeof buildLifecycles>[number];
export type Status = Lifecycle['statuses'][number];

export function buildLifecycles(ground: Ground) {
  return ROWS.map((row, n) => {
    const ref: Reference = { id: idOf(ground, LIFECYCLES, n), name: row.name };
    const statuses = row.statuses.map(([stage, name, special], position) => ({
      id: idOf(ground, STATUSES, n, position),
      name,
      description: stage === 'ON_HOLD' ? 'The clock stops until somebody acts.' : '',
      stage,
      special_status: special ?? null,
      is_default: position === 0,
      is_work_complete: stage === 'COMPLETED' || stage === 'WON',
      is_lead_won: stage === 'WON' || (row.type === 'LEAD' && stage === 'COMPLETED'),
    }));
    const given: Given<JobLifecycle> = {
      ...ref,
      description: row.description,
      type: row.type,
      archived: row.archived ?? false,
      statuses,
      created_at: ground.founded + n,
      updated_at: ground.founded + n * 40 * DAY,
    };
    return { n, ref, statuses, given };
  });
}

/** The `choice`-th status of the stage, modulo their number; the lifecycle's first status when it lacks the stage. */
export function statusOf({ statuses }: Lifecycle, stage: Stage, choice: number): Status {
  const fitting = statuses.filter((status) => status.stage === stage);
  return (fitting[choice % Math.max(1, fitting.length)] ?? statuses[0]) as Status;
}
