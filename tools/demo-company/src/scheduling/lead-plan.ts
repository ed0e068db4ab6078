import type { JobLeadOutcome } from '@truckroll/contract/gen/scheduling/v1/job_leads';
import type { LifecycleStage } from '@truckroll/contract/gen/scheduling/v1/job_lifecycles';
import type { Company } from '../company.ts';
import { drawOf, idOf } from '../ground.ts';
import { stream } from '../random/keyed.ts';
import { Rota } from '../random/rota.ts';
import { MINUTE } from '../time/instant.ts';
import { planJob } from './job-plan.ts';
import type { JobPlan } from '../plans.ts';
import type { Spelled } from '../shapes/given.ts';

const LEADS = stream('job leads');
const PLANS = stream('plans of leads');

/** Every run of this many jobs has one lead; if it was won, it became job LEAD_JOB of the run. */
const JOBS_PER_LEAD = 8;
const LEAD_JOB = 3;

type Stage = Spelled<LifecycleStage>;

/** Stages of leads in every run of 25: 9 won, 9 lost, 7 open. */
const STAGES = new Rota<Stage>('stages of leads', [
  ['WON', 6],
  ['COMPLETED', 3],
  ['LOST', 7],
  ['CANCELED', 2],
  ['NEW', 2],
  ['IN_PROGRESS', 2],
  ['SCHEDULED', 2],
  ['ON_HOLD', 1],
]);

export interface LeadPlan {
  readonly id: string;
  readonly stage: Stage;
  readonly outcome: Spelled<JobLeadOutcome>;
  /** A person who inquired but is not (yet) a customer. */
  readonly stranger: boolean;
  readonly createdAt: number;
  /** The job that the lead became, or the one it would have become. */
  readonly job: JobPlan;
}

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

export function planLead(company: Company, n: number): LeadPlan {
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
