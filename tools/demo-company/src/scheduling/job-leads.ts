import type { JobLead, JobLeadOutcome } from '@truckroll/contract/gen/scheduling/v1/job_leads';
import type { LifecycleStage } from '@truckroll/contract/gen/scheduling/v1/job_lifecycles';
import type { Company } from '../company.ts';
import { Rota, drawOf, idOf, stream } from '../random.ts';
import { MINUTE, dateText } from '../time.ts';
import { planJob } from './job-plan.ts';
import type { Priority } from '@truckroll/contract/gen/type/v1/type';
import { LEAD_LIFECYCLE, pickTags, statusOf, type Lifecycle } from '../reference.ts';
import { LOST_REASONS, SUMMARIES } from '../words/phrases.ts';
import { editedAt } from './customers.ts';
import { makerOf, type Spelled } from '../shapes/maker.ts';

const LEADS = stream('job leads');
const PLANS = stream('plans of leads');

/** Every run of this many jobs has one lead; if it was won, it became job LEAD_JOB of the run. */
const JOBS_PER_LEAD = 8;
const LEAD_JOB = 3;

type Stage = Spelled<LifecycleStage>;

/** Stages of leads in every run of 25: 9 won, 9 lost, 7 open. */
const STAGES = new Rota<Stage>('stages of leads', { WON: 6, COMPLETED: 3, LOST: 7, CANCELED: 2, NEW: 2, IN_PROGRESS: 2, SCHEDULED: 2, ON_HOLD: 1 });

export type LeadPlan = ReturnType<typeof planLead>;

export function leadCount(company: Company): number {
  return Math.floor((company.size.jobs - LEAD_JOB - 1) / JOBS_PER_LEAD) + 1;
}

function outcomeOf(stage: Stage): Spelled<JobLeadOutcome> {
  if (stage === 'WON' || stage === 'COMPLETED') return 'WON';
  return stage === 'LOST' || stage === 'CANCELED' ? 'LOST' : 'OPEN';
}

export function leadOfJob(company: Company, n: number): string | null {
  if (n % JOBS_PER_LEAD !== LEAD_JOB) return null;
  const lead = (n - LEAD_JOB) / JOBS_PER_LEAD;
  return outcomeOf(STAGES.at(company.seed, lead)) === 'WON' ? idOf(company, LEADS, lead) : null;
}

/** `job` is the job that the lead became, or the one it would have become; a stranger is no customer (yet). */
export function planLead(company: Company, n: number) {
  const draw = drawOf(company, PLANS, n);
  const stage = STAGES.at(company.seed, n);
  const outcome = outcomeOf(stage);
  const job = planJob(company, n * JOBS_PER_LEAD + LEAD_JOB);
  return {
    id: idOf(company, LEADS, n),
    stage,
    outcome,
    stranger: outcome !== 'WON' && draw.chance(0.4),
    createdAt: job.bookedAt - draw.between(60, 20_000) * MINUTE + draw.below(1_000_000),
    job,
  };
}

const make = makerOf<JobLead>('job-leads');
const DETAILS = stream('lead details');
const PRIORITIES = new Rota<Spelled<Priority>>('priorities of leads', { LOW: 2, NORMAL: 7, HIGH: 2, URGENT: 1 });

export function* buildJobLeads(company: Company) {
  for (let n = 0; n < leadCount(company); n++) yield buildJobLead(company, n);
}

function buildJobLead(company: Company, n: number) {
  const { id, stage, outcome, stranger, createdAt, job } = planLead(company, n);
  const draw = drawOf(company, DETAILS, n);
  const won = outcome === 'WON';
  const lifecycle = company.lifecycles[LEAD_LIFECYCLE] as Lifecycle;
  const status = statusOf(lifecycle, stage, 0);
  const closedAt = won ? job.bookedAt : editedAt(draw, createdAt, company.until);
  return make(
    { company, n, job },
    {
      id,
      number: `L-${3001 + n}`,
      summary: draw.orNull(0.15, draw.pick(SUMMARIES)),
      ...(stranger && { account: null, contact: null, location_id: null }),
      business_unit: draw.orNull(0.2, job.type.unit.ref),
      job_type: draw.orNull(0.25, job.type.ref),
      lead_source: draw.orNull(0.2, draw.pick(company.leadSources).ref),
      lifecycle: lifecycle.ref,
      status: { id: status.id, name: status.name, stage: status.stage, is_lead_won: status.is_lead_won },
      outcome,
      priority: PRIORITIES.at(company.seed, n),
      assigned_to: draw.orNull(0.25, draw.pick(company.members.sales).ref),
      follow_up_on: draw.orNull(outcome === 'OPEN' ? 0.2 : 0.6, dateText(company.zone.day(createdAt) + draw.between(1, 45))),
      tags: pickTags(company.tags, 'JOB', draw),
      job_id: won ? job.id : null,
      won_at: won ? closedAt : null,
      lost_at: outcome === 'LOST' ? closedAt : null,
      lost_reason: outcome === 'LOST' ? draw.orNull(0.2, draw.pick(LOST_REASONS)) : null,
      created_at: createdAt,
      updated_at: outcome === 'OPEN' ? editedAt(draw, createdAt, company.until) : closedAt,
    },
  );
}
