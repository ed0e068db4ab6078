import type { Job } from '@truckroll/contract/gen/scheduling/v1/jobs';
import type { Priority } from '@truckroll/contract/gen/type/v1/type';
import type { Company, JobPlan } from '../company.ts';
import { estimateOfJob } from './estimate-plan.ts';
import { Rota, drawOf, idOf, stream } from '../random.ts';
import { pickTags, statusOf } from '../reference.ts';
import { DAY } from '../time.ts';
import { CANCEL_REASONS, SUMMARIES } from '../words/phrases.ts';
import { leadOfJob } from './job-leads.ts';
import { JOBS } from './job-plan.ts';
import { makerOf, type Spelled } from '../shapes/maker.ts';

const make = makerOf<Job>('jobs');
const DETAILS = stream('job details');
const MAINTENANCE_PLANS = stream('maintenance plans');
const PRIORITIES = new Rota<Spelled<Priority>>('priorities', { LOW: 3, NORMAL: 24, HIGH: 3, URGENT: 1 });

export function maintenancePlanId(company: Company, account: number): string {
  return idOf(company, MAINTENANCE_PLANS, account);
}

function jobEditedAt(company: Company, plan: JobPlan, hours: number): number {
  const started = plan.visits.findLast(({ startsAt }) => startsAt <= company.until)?.startsAt;
  const last = Math.max(plan.bookedAt, plan.completedAt ?? plan.canceledAt ?? started ?? plan.bookedAt);
  return Math.min(company.until, last + Math.floor((hours / 24) * DAY));
}

export function buildJob(company: Company, plan: JobPlan) {
  const { n, account, visits } = plan;
  const draw = drawOf(company, DETAILS, n);
  const status = statusOf(plan.lifecycle, plan.stage, draw.below(4));
  const estimate = estimateOfJob(company, plan);
  return make(
    { company, n, job: plan },
    {
      id: plan.id,
      number: plan.number,
      summary: draw.orNull(0.08, draw.pick(SUMMARIES)),
      job_class: plan.jobClass,
      status: { id: status.id, name: status.name, stage: status.stage, is_work_complete: status.is_work_complete },
      priority: PRIORITIES.at(company.seed, n),
      lead_source: draw.orNull(0.35, draw.pick(company.leadSources).ref),
      tags: pickTags(company.tags, 'JOB', draw),
      sold_by: estimate?.soldBy ?? null,
      job_lead_id: leadOfJob(company, n),
      estimate_id: estimate?.soldBy ? estimate.id : null,
      original_job_id: plan.original === null ? null : idOf(company, JOBS, plan.original),
      maintenance_plan_id: plan.type.jobClass === 'MAINTENANCE' && draw.chance(0.6) ? maintenancePlanId(company, account) : null,
      completed_at: plan.completedAt,
      canceled_at: plan.canceledAt,
      cancellation_reason: plan.canceledAt === null ? null : draw.orNull(0.15, draw.pick(CANCEL_REASONS)),
      created_by: draw.orNull(visits.length === 0 ? 0.5 : 0.15, draw.pick(company.members.office).ref),
      created_at: plan.bookedAt,
      updated_at: jobEditedAt(company, plan, draw.next() * 20),
    },
  );
}
