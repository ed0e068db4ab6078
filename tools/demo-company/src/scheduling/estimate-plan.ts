import type { EstimateStatus } from '@truckroll/contract/gen/billing/v1/estimates';
import type { JobClass } from '@truckroll/contract/gen/type/v1/type';
import type { Company, JobPlan } from '../company.ts';
import { Rota, drawOf, idOf, stream, type Draw } from '../random.ts';
import { planLead, type LeadPlan } from './job-leads.ts';
import { DAY, HOUR } from '../time.ts';
import type { Spelled } from '../shapes/given.ts';

const ESTIMATES = stream('estimates');
const PLANS = stream('plans of estimates');

type Status = Spelled<EstimateStatus>;

const ON_REPAIRS = new Rota<Status | null>('estimates on repairs', [
  [null, 24],
  ['SOLD', 2],
  ['DRAFT', 1],
  ['SENT', 1],
  ['DECLINED', 1],
  ['EXPIRED', 1],
  ['VOIDED', 1],
]);

/** Jobs after which the customer may replace the unit, so that they leave an estimate for a new one. */
const RARE: readonly Spelled<JobClass>[] = ['WARRANTY', 'CALLBACK', 'UNKNOWN'];

export type EstimatePlan = ReturnType<typeof planned>;

export function estimateOfJob(company: Company, job: JobPlan): EstimatePlan | null {
  const draw = drawOf(company, PLANS, job.n);
  const status = statusOnJob(company, job, draw);
  if (status === null) return null;
  const sold = status === 'SOLD';
  const before = job.type.jobClass === 'INSTALL';
  const createdAt = before ? job.bookedAt - draw.between(20, 240) * HOUR : (job.completedAt ?? job.bookedAt);
  return planned(company, draw, { a: job.n, b: 0, status, job, lead: null, createdAt, soldAt: !sold ? null : before ? job.bookedAt : createdAt });
}

function statusOnJob(company: Company, job: JobPlan, draw: Draw): Status | null {
  const { stage, type } = job;
  if (type.jobClass === 'INSTALL') return stage === 'CANCELED' ? 'VOIDED' : 'SOLD';
  if (RARE.includes(type.jobClass) && draw.chance(0.6)) return draw.pick(['SENT', 'DECLINED', 'EXPIRED'] as const);
  if (!type.opportunity) return job.completedAt === null ? null : ON_REPAIRS.at(company.seed, job.n);
  if (stage === 'WON') return 'SOLD';
  if (stage === 'LOST') return draw.pick(['DECLINED', 'DECLINED', 'EXPIRED'] as const);
  if (stage === 'COMPLETED') return job.bookedAt < company.until - 45 * DAY ? 'EXPIRED' : 'SENT';
  if (stage === 'CANCELED') return draw.chance(0.5) ? 'VOIDED' : null;
  return stage === 'IN_PROGRESS' || stage === 'ON_HOLD' ? 'DRAFT' : null;
}

/** A third of the leads of known customers that were not won have an estimate. */
export function estimateOfLead(company: Company, n: number): EstimatePlan | null {
  if (n % 3 !== 0) return null;
  const lead = planLead(company, n);
  if (lead.outcome === 'WON' || lead.stranger) return null;
  const draw = drawOf(company, PLANS, n, 1);
  const status = lead.outcome === 'LOST' ? draw.pick(['DECLINED', 'EXPIRED'] as const) : draw.pick(['DRAFT', 'SENT'] as const);
  return planned(company, draw, { a: n, b: 1, status, job: lead.job, lead, createdAt: lead.createdAt, soldAt: null });
}

interface Given {
  /** Two numbers unique among estimates, which key the ids of its children. */
  readonly a: number;
  readonly b: 0 | 1;
  readonly status: Status;
  readonly job: JobPlan;
  readonly lead: LeadPlan | null;
  readonly createdAt: number;
  readonly soldAt: number | null;
}

function planned(company: Company, draw: Draw, given: Given) {
  const { status, soldAt, createdAt, a, b } = given;
  const sent = status !== 'DRAFT' && (status !== 'VOIDED' || draw.chance(0.5));
  const sellers = draw.chance(0.8) ? company.members.sales : company.members.technicians;
  return {
    ...given,
    id: idOf(company, ESTIMATES, a, b),
    sentAt: sent ? Math.min(company.until, createdAt + draw.below(soldAt === createdAt ? 1 : 20) * HOUR) : null,
    soldBy: soldAt === null ? null : draw.pick(sellers).ref,
  };
}
