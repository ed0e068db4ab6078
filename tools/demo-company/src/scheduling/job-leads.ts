import type { JobLead } from '@truckroll/contract/gen/scheduling/v1/job_leads';
import type { Priority } from '@truckroll/contract/gen/type/v1/type';
import type { Company } from '../company.ts';
import { drawOf } from '../ground.ts';
import { stream } from '../random/keyed.ts';
import { Rota } from '../random/rota.ts';
import { LEAD_LIFECYCLE, statusOf, type Lifecycle } from '../reference/job-lifecycles.ts';
import { pickTags } from '../reference/tags.ts';
import { dateText } from '../time/instant.ts';
import { LOST_REASONS, SUMMARIES } from '../words/phrases.ts';
import { editedAt } from './customers.ts';
import { leadCount, planLead } from './lead-plan.ts';
import { makerOf } from '../shapes/maker.ts';
import type { Spelled } from '../shapes/given.ts';

const make = makerOf<JobLead>('job-leads');
const DETAILS = stream('lead details');
const PRIORITIES = new Rota<Spelled<Priority>>('priorities of leads', [
  ['LOW', 2],
  ['NORMAL', 7],
  ['HIGH', 2],
  ['URGENT', 1],
]);

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
    company,
    n,
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
    job,
  );
}
