// What a job brings into both job reports, from the same read models as its financials (decisions §2): stored in job_facts,
// so that what was counted can be taken back.
import { formatInstant, resource } from '@truckroll/contract';
import { CostCategory, CostTrackingStatus, CostVerificationStatus, JobFinancials, type CostEntry } from '@truckroll/contract/gen/reporting/v1/job_financials';
import { Job } from '@truckroll/contract/gen/scheduling/v1/jobs';
import type { Queryable } from '@truckroll/service-kit';
import { JOBS, PARTICIPATION, standingOf } from '../summaries/definitions.ts';
import { entryOf, type Entry, type FactKind } from './fact.ts';

const COSTS = ['labor_cost_cents', 'parts_cost_cents', 'equipment_cost_cents', 'misc_cost_cents', 'other_cost_cents'] as const;
type CostColumn = (typeof COSTS)[number];

const COLUMN: Partial<Record<CostCategory, CostColumn>> = {
  [CostCategory.LABOR]: 'labor_cost_cents',
  [CostCategory.PARTS]: 'parts_cost_cents',
  [CostCategory.EQUIPMENT]: 'equipment_cost_cents',
  [CostCategory.MISC]: 'misc_cost_cents',
  [CostCategory.OTHER]: 'other_cost_cents',
};

const classSpellings = resource('jobs').record.byName.get('job_class')?.enum?.spellings;

interface Sources {
  id: string;
  financial: Buffer;
  job: Buffer | null;
  /** Exact, as text. */
  revenue: string | null;
  /** First issue of an OPEN or PAID invoice. */
  issued_at: number | null;
  members: string[] | null;
}

interface JobFact extends Record<CostColumn | 'revenue_cents', bigint> {
  id: string;
  reported_at: number;
  account: string | null;
  business_unit: string | null;
  job_type: string | null;
  job_class: string | null;
  standing: string;
  members: string[];
}

/** Undefined where the job's costs are not tracked: it is in no report. */
function factOf({ id, financial, job: known, revenue, issued_at, members }: Sources): JobFact | undefined {
  const recorded = JobFinancials.decode(financial);
  const { costing } = recorded;
  if (costing?.tracking_status !== CostTrackingStatus.TRACKED) return undefined;
  const job = known === null ? undefined : Job.decode(known);
  const { account, business_unit, job_type, job_class, created_at } = job ?? recorded;
  const included = costing.job_type_included && job_type != null;
  return {
    id,
    reported_at: issued_at ?? job?.completed_at ?? created_at,
    account: account?.id ?? null,
    business_unit: business_unit?.id ?? null,
    job_type: job_type?.id ?? null,
    job_class: job_class == null ? null : (classSpellings?.get(job_class) ?? null),
    standing: standingOf(included, costing.verification_status === CostVerificationStatus.VERIFIED),
    members: members ?? [],
    revenue_cents: BigInt(revenue ?? 0),
    ...costsOf(recorded.cost_entries),
  };
}

/** Exact however many there are. */
function costsOf(entries: readonly CostEntry[]): Record<CostColumn, bigint> {
  const sums = Object.fromEntries(COSTS.map((column) => [column, 0n])) as Record<CostColumn, bigint>;
  for (const { category, total_cents } of entries) {
    const column = COLUMN[category];
    if (column !== undefined) sums[column] += BigInt(total_cents);
  }
  return sums;
}

/** What the jobs bring in, by the read models as they are now. */
async function derive(db: Queryable, companyId: string, ids: readonly string[]): Promise<JobFact[]> {
  const { rows } = await db.query<Sources>({
    name: 'sources_of_job_facts',
    text: `select f.id, f.document as financial, j.document as job, r.revenue::text, r.issued_at, m.members
      from unnest($2::uuid[]) u(id)
      join job_financials f on f.company_id = $1 and f.id = u.id
      left join jobs j on j.company_id = $1 and j.id = u.id
      cross join lateral (
        select sum(subtotal_cents) as revenue, min(issued_at) as issued_at from invoices i
        where i.company_id = $1 and i.job_id = u.id and i.status in ('OPEN', 'PAID')) r
      cross join lateral (
        select array_agg(distinct team_member_id order by team_member_id) as members from assignments a
        where a.company_id = $1 and a.job_id = u.id) m`,
    values: [companyId, ids],
  });
  return rows.flatMap((row) => factOf(row) ?? []);
}

/** Entries by id as the read models have them now, whatever is stored. */
export async function derivedJobFacts(db: Queryable, companyId: string, ids: readonly string[]): Promise<ReadonlyMap<string, readonly Entry[]>> {
  return new Map((await derive(db, companyId, ids)).map((fact) => [fact.id, entriesOf(fact)]));
}

/** Stores what the jobs bring in now, in the caller's transaction, which holds the company's lock. */
export async function storeJobFacts(tx: Queryable, companyId: string, ids: readonly string[]): Promise<void> {
  const facts = await derive(tx, companyId, ids);
  const counted = new Set(facts.map(({ id }) => id));
  const gone = ids.filter((id) => !counted.has(id));
  if (gone.length > 0) {
    await tx.query({ name: 'drop_job_facts', text: 'delete from job_facts where company_id = $1 and id = any($2::uuid[])', values: [companyId, gone] });
  }
  if (facts.length === 0) return;
  const cents = ['revenue_cents', ...COSTS] as const;
  const columns = ['reported_at', 'account_id', 'business_unit_id', 'job_type_id', 'job_class', 'standing', 'members', ...cents];
  await tx.query({
    name: 'store_job_facts',
    text: `insert into job_facts as f (company_id, id, ${columns.join(', ')})
      select $1, id, reported_at, account_id, business_unit_id, job_type_id, job_class, standing, members::uuid[], ${cents.join(', ')}
      from unnest($2::uuid[], $3::timestamptz[], $4::uuid[], $5::uuid[], $6::uuid[], $7::text[], $8::text[], $9::text[],
        ${cents.map((_, i) => `$${i + 10}::numeric[]`).join(', ')}) d(id, ${columns.join(', ')})
      on conflict (company_id, id) do update set ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}
      where (${columns.map((name) => `f.${name}`).join(', ')}) is distinct from (${columns.map((name) => `excluded.${name}`).join(', ')})`,
    values: [
      companyId,
      facts.map(({ id }) => id),
      facts.map(({ reported_at }) => formatInstant(reported_at)),
      ...(['account', 'business_unit', 'job_type', 'job_class', 'standing'] as const).map((name) => facts.map((fact) => fact[name])),
      facts.map(({ members }) => `{${members.join()}}`),
      ...cents.map((name) => facts.map((fact) => String(fact[name]))),
    ],
  });
}

type Row = Omit<JobFact, CostColumn | 'revenue_cents'> & Record<CostColumn | 'revenue_cents', string>;

/** What `entriesOf` makes of a row. */
const countedJobs = (dimensions: string, from: string): string =>
  `select company_id, f.id, reported_at as at, standing, ${dimensions}, job_class, 1 as job_count, revenue_cents, ${COSTS.join(', ')} from ${from}`;

export const jobFacts: FactKind = {
  name: 'job_facts',
  counted: [
    { summary: JOBS, rows: countedJobs('account_id as account, business_unit_id as business_unit, job_type_id as job_type', 'job_facts f') },
    { summary: PARTICIPATION, rows: countedJobs('member.id as team_member', 'job_facts f cross join unnest(f.members) as member(id)') },
  ],
  async read(db, companyId, ids) {
    const { rows } = await db.query<Row>({
      name: 'facts_of_jobs',
      text: `select f.id, reported_at, account_id as account, business_unit_id as business_unit, job_type_id as job_type, job_class, standing,
          members::text[] as members, revenue_cents, ${COSTS.join(', ')}
        from unnest($2::uuid[]) u(id) join job_facts f on f.company_id = $1 and f.id = u.id`,
      values: [companyId, ids],
    });
    return new Map(rows.map((row) => [row.id, entriesOf(row)]));
  },
  /** Also of jobs that are not counted yet: a generation that is built looks at all anew. */
  async next(db, companyId, after, limit) {
    const { rows } = await db.query<{ id: string }>({
      name: 'next_of_jobs',
      text: `(select id from job_financials where company_id = $1 and ($2::uuid is null or id > $2) order by id limit $3)
        union (select id from job_facts where company_id = $1 and ($2::uuid is null or id > $2) order by id limit $3)
        order by id limit $3`,
      values: [companyId, after, limit],
    });
    return rows.map(({ id }) => id);
  },
};

function entriesOf({ reported_at, standing, members, account, business_unit, job_type, job_class, ...row }: Row | JobFact): Entry[] {
  const cents = Object.fromEntries((['revenue_cents', ...COSTS] as const).map((name) => [name, BigInt(row[name])]));
  const measures = { job_count: 1n, ...cents };
  return [
    entryOf(JOBS, reported_at, { account, business_unit, job_type, job_class }, standing, measures),
    ...members.map((team_member) => entryOf(PARTICIPATION, reported_at, { team_member, job_class }, standing, measures)),
  ];
}
