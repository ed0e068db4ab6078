// What a job adds to both job reports (decisions §2). Stored in job_facts, so that what was counted can be subtracted again.
import { resource } from '@truckroll/contract';
import { CostCategory, JobFinancials, type CostEntry } from '@truckroll/contract/gen/reporting/v1/job_financials';
import { binaryArrays, type Queryable, type Statement } from '@truckroll/postgres';
import { readSources, sourcesOf, type Sources } from '../financials/sources.ts';
import { standingOfJob } from './standing.ts';
import { isCounted } from '../financials/totals.ts';
import { JOBS, PARTICIPATION, measuresOf } from './definitions.ts';
import { amountOf, entryWith, plus, type Amount, type Entry, type FactKind } from './fact.ts';

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

export interface JobFact extends Record<CostColumn | 'revenue_cents', Amount> {
  id: string;
  reported_at: number;
  account: string | null;
  business_unit: string | null;
  job_type: string | null;
  job_class: string | null;
  standing: string;
  members: string[];
}

/** From the job's recorded financial. Undefined if the job's costs are not tracked: such a job is in no report. */
export function jobFactOf(recorded: JobFinancials, { job, invoices, participants }: Sources): JobFact | undefined {
  const { costing } = recorded;
  const { account, business_unit, job_type, job_class, created_at } = job ?? recorded;
  const standing = standingOfJob({ costing, job_type });
  if (standing === undefined) return undefined;
  const counted = invoices.filter(isCounted);
  const issued = counted.flatMap(({ issued_at }) => issued_at ?? []);
  return {
    id: recorded.id,
    reported_at: issued.length > 0 ? Math.min(...issued) : (job?.completed_at ?? created_at),
    account: account?.id ?? null,
    business_unit: business_unit?.id ?? null,
    job_type: job_type?.id ?? null,
    job_class: job_class == null ? null : (classSpellings?.get(job_class) ?? null),
    standing,
    members: participants.map(({ id }) => id),
    revenue_cents: counted.reduce<Amount>((sum, { subtotal_cents }) => plus(sum, subtotal_cents), 0),
    ...costsOf(recorded.cost_entries),
  };
}

/** Exact, however many entries there are. */
function costsOf(entries: readonly CostEntry[]): Record<CostColumn, Amount> {
  const sums: Record<CostColumn, Amount> = { labor_cost_cents: 0, parts_cost_cents: 0, equipment_cost_cents: 0, misc_cost_cents: 0, other_cost_cents: 0 };
  for (const { category, total_cents } of entries) {
    const column = COLUMN[category];
    if (column !== undefined) sums[column] = plus(sums[column], total_cents);
  }
  return sums;
}

/** Computes facts from the current read models. */
export async function factsOfJobs(db: Queryable, companyId: string, ids: readonly string[]): Promise<JobFact[]> {
  const [{ rows }, readModels] = await Promise.all([
    db.query<{ document: Buffer }>({
      name: 'financials_of_facts',
      text: 'select f.document from unnest($2::uuid[]) u(id) join job_financials f on f.company_id = $1 and f.id = u.id',
      values: [companyId, binaryArrays.uuid(ids)],
    }),
    readSources(db, companyId, ids),
  ]);
  return rows.flatMap(({ document }) => {
    const recorded = JobFinancials.decode(document);
    return jobFactOf(recorded, sourcesOf(readModels, recorded.id)) ?? [];
  });
}

/** Entries by id, computed from the current read models instead of the stored facts. */
export async function derivedJobFacts(db: Queryable, companyId: string, ids: readonly string[]): Promise<ReadonlyMap<string, readonly Entry[]>> {
  return entriesOfJobs(await factsOfJobs(db, companyId, ids));
}

export const entriesOfJobs = (facts: readonly JobFact[]): ReadonlyMap<string, readonly Entry[]> => new Map(facts.map((fact) => [fact.id, entriesOf(fact)]));

/** Replaces the stored facts of `ids` with `facts`, in the caller's transaction, which holds the company's lock. */
export async function storeJobFacts(tx: Queryable, companyId: string, ids: readonly string[], facts: readonly JobFact[]): Promise<void> {
  const counted = new Set(facts.map(({ id }) => id));
  const gone = ids.filter((id) => !counted.has(id));
  const dropped =
    gone.length > 0 &&
    tx.query({
      name: 'drop_job_facts',
      text: 'delete from job_facts where company_id = $1 and id = any($2::uuid[])',
      values: [companyId, binaryArrays.uuid(gone)],
    });
  const stored = facts.length > 0 && tx.query(storing(companyId, facts));
  await Promise.all([dropped, stored]);
}

const CENTS = ['revenue_cents', ...COSTS] as const;

function storing(companyId: string, facts: readonly JobFact[]): Statement {
  const columns = ['reported_at', 'account_id', 'business_unit_id', 'job_type_id', 'job_class', 'standing', 'members', ...CENTS];
  return {
    name: 'store_job_facts',
    text: `insert into job_facts as f (company_id, id, ${columns.join(', ')})
      select $1, id, reported_at, account_id, business_unit_id, job_type_id, job_class, standing, members::uuid[], ${CENTS.join(', ')}
      from unnest($2::uuid[], $3::timestamptz[], $4::uuid[], $5::uuid[], $6::uuid[], $7::text[], $8::text[], $9::text[],
        ${CENTS.map((_, i) => `$${i + 10}::numeric[]`).join(', ')}) d(id, ${columns.join(', ')})
      on conflict (company_id, id) do update set ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}
      where (${columns.map((name) => `f.${name}`).join(', ')}) is distinct from (${columns.map((name) => `excluded.${name}`).join(', ')})`,
    values: [
      companyId,
      binaryArrays.uuid(facts.map(({ id }) => id)),
      binaryArrays.timestamptz(facts.map(({ reported_at }) => reported_at)),
      ...(['account', 'business_unit', 'job_type'] as const).map((name) => binaryArrays.uuid(facts.map((fact) => fact[name]))),
      ...(['job_class', 'standing'] as const).map((name) => binaryArrays.text(facts.map((fact) => fact[name]))),
      binaryArrays.text(facts.map(({ members }) => `{${members.join()}}`)),
      ...CENTS.map((name) => binaryArrays.numeric(facts.map((fact) => fact[name]))),
    ],
  };
}

type Row = Omit<JobFact, CostColumn | 'revenue_cents' | 'members'> & Record<CostColumn | 'revenue_cents' | 'members', string>;

/** The rows for which `entriesOf` returns entries, in SQL. */
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
          array_to_string(members, ',') as members, ${CENTS.join(', ')}
        from unnest($2::uuid[]) u(id) join job_facts f on f.company_id = $1 and f.id = u.id`,
      values: [companyId, binaryArrays.uuid(ids)],
    });
    return new Map(rows.map(({ members, ...row }) => [row.id, entriesOf({ ...row, members: members === '' ? [] : members.split(',') })]));
  },
  /** Includes jobs without a stored fact: building a generation recomputes all of them. */
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

const MEASURES = measuresOf(JOBS) as readonly ('job_count' | (typeof CENTS)[number])[];

function entriesOf({
  reported_at,
  standing,
  members,
  account,
  business_unit,
  job_type,
  job_class,
  ...row
}: (Omit<Row, 'members'> & Pick<JobFact, 'members'>) | JobFact): Entry[] {
  const measures = MEASURES.map((name) => (name === 'job_count' ? 1 : amountOf(row[name])));
  return [
    entryWith(JOBS, reported_at, { account, business_unit, job_type, job_class }, standing, measures),
    ...members.map((team_member) => entryWith(PARTICIPATION, reported_at, { team_member, job_class }, standing, measures)),
  ];
}
