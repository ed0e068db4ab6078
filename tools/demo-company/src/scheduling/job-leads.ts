import type { Company } from '../company.ts';
import { drawOf } from '../ground.ts';
import { stream } from '../random/keyed.ts';
import { Rota } from '../random/rota.ts';
import { LEAD_LIFECYCLE, statusOf, type Lifecycle } from '../reference/job-lifecycles.ts';
import { pickTags } from '../reference/tags.ts';
import { dateText, instantText, instantTextOrNull } from '../time/instant.ts';
import { LOST_REASONS, SUMMARIES } from '../words/phrases.ts';
import type { Enum } from '../enums.ts';
import { accountRef, editedAt } from './customers.ts';
import { contactRef } from './contacts.ts';
import { leadCount, planLead } from './lead-plan.ts';
import { locationId } from './locations.ts';

const DETAILS = stream('lead details');
const PRIORITIES = new Rota<Enum<'Priority'>>('priorities of leads', [['LOW', 2], ['NORMAL', 7], ['HIGH', 2], [
  'URGENT',
  1,
]]);

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
  return {
    id,
    number: `L-${3001 + n}`,
    summary: draw.orNull(0.15, draw.pick(SUMMARIES)),
    account: stranger ? null : accountRef(company, job.account),
    contact: stranger || job.contact < 0 ? null : contactRef(company, job.account, job.contact),
    location_id: stranger ? null : locationId(company, job.account, job.location),
    business_unit: draw.orNull(0.2, job.type.unit.ref),
    job_type: draw.orNull(0.25, job.type.ref),
    lead_source: draw.orNull(0.2, draw.pick(company.leadSources).ref),
    lifecycle: lifecycle.ref,
    status: { id: status.id, name: status.name, stage: status.stage, is_lead_won: status.is_lead_won },
    outcome,
    priority: PRIORITIES.at(company.seed, n),
    assigned_to: draw.orNull(0.25, draw.pick(company.members.sales).ref),
    follow_up_on: draw.orNull(
      outcome === 'OPEN' ? 0.2 : 0.6,
      dateText(company.zone.day(createdAt) + draw.between(1, 45)),
    ),
    tags: pickTags(company.tags, 'JOB', draw),
    job_id: won ? job.id : null,
    won_at: instantTextOrNull(won ? closedAt : null),
    lost_at: instantTextOrNull(outcome === 'LOST' ? closedAt : null),
    lost_reason: outcome === 'LOST' ? draw.orNull(0.2, draw.pick(LOST_REASONS)) : null,
    created_at: instantText(createdAt),
    updated_at: instantText(outcome === 'OPEN' ? editedAt(draw, createdAt, company.until) : closedAt),
  };
}
