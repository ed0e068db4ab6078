// What a job adds to both job reports (decisions §2). Stored in job_facts, because its costs are in a message that SQL cannot read.
import { resource, sumOfCents } from '@truckroll/contract';
import { JobFinancials } from '@truckroll/contract/gen/reporting/v1/job_financials';
import { arrayOf, binaryArrays, type Queryable, type Transaction } from '@truckroll/postgres';
import { readSources, sourcesOf, type Sources } from '../financials/sources.ts';
import { standingOfJob } from './standing.ts';
import { JOB_SUMS, reportedAt, summandsOf, type JobSum } from '../financials/totals.ts';

const classSpellings = resource('jobs').record.byName.get('job_class')?.enum?.spellings;

/** Values by type. */
interface Values {
  uuid: string | null;
  text: string | null;
  timestamptz: number;
  numeric: number | bigint;
}

/** Column of job_facts → its type. Members are passed as the text of an array, because unnest takes no array of arrays. */
const COLUMNS = {
  id: 'uuid',
  reported_at: 'timestamptz',
  account_id: 'uuid',
  business_unit_id: 'uuid',
  job_type_id: 'uuid',
  job_class: 'text',
  standing: 'text',
  members: 'text',
  ...(Object.fromEntries(JOB_SUMS.map((name) => [name, 'numeric'])) as Record<JobSum, 'numeric'>),
} as const satisfies Record<string, keyof Values>;
type Column = keyof typeof COLUMNS;

export type JobFact = { id: string } & { [Name in Column]: Values[(typeof COLUMNS)[Name]] };

/** From the job's recorded financial. Undefined if the job's costs are not tracked: such a job is in no report. */
export function jobFactOf(recorded: JobFinancials, { job, invoices, participants }: Sources): JobFact | undefined {
  const { costing } = recorded;
  const { account, business_unit, job_type, job_class, created_at } = job ?? recorded;
  const standing = standingOfJob({ costing, job_type });
  if (standing === undefined) return undefined;
  const summands = summandsOf(invoices, recorded.cost_entries);
  const exact = (name: JobSum, cents = summands.get(name) ?? []): number | bigint => sumOfCents(cents) ?? cents.reduce((sum, value) => sum + BigInt(value), 0n);
  return {
    id: recorded.id,
    reported_at: reportedAt(invoices, { created_at, completed_at: job?.completed_at ?? null }).at,
    account_id: account?.id ?? null,
    business_unit_id: business_unit?.id ?? null,
    job_type_id: job_type?.id ?? null,
    job_class: job_class == null ? null : (classSpellings?.get(job_class) ?? null),
    standing,
    members: `{${participants.map(({ id }) => id).join()}}`,
    ...(Object.fromEntries(JOB_SUMS.map((name) => [name, exact(name)])) as Record<JobSum, number | bigint>),
  };
}

/** Computes facts from the current read models. */
async function factsOfJobs(db: Queryable, companyId: string, ids: readonly string[]): Promise<JobFact[]> {
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
  const stored =
    facts.length > 0 &&
    tx.query({
      name: 'store_job_facts',
      text: `insert into job_facts as f (company_id, ${NAMES.join(', ')}) select $1, ${VALUES.join(', ')} from unnest(${PARAMETERS}) d(${NAMES.join(', ')})
        on conflict (company_id, id) do update set ${NAMES.map((name) => `${name} = excluded.${name}`).join(', ')}
        where (${listOf('f')}) is distinct from (${listOf('excluded')})`,
      values: [companyId, ...arraysOf(facts)],
    });
  await Promise.all([dropped, stored]);
}

const NAMES = Object.keys(COLUMNS) as Column[];
const VALUES = NAMES.map((name) => (name === 'members' ? 'members::uuid[]' : name));
const PARAMETERS = NAMES.map((name, i) => `$${i + 2}::${COLUMNS[name]}[]`).join(', ');
const listOf = (alias: string): string => NAMES.map((name) => `${alias}.${name}`).join(', ');
const arraysOf = (facts: readonly JobFact[]): Buffer[] =>
  NAMES.map((name) =>
    arrayOf(
      COLUMNS[name],
      facts.map((fact) => fact[name]),
    ),
  );

/** Derives the facts of jobs again after one of their sources has changed, like `refreshRecords` for financials. The company is locked. */
export async function refreshJobFacts(tx: Transaction, companyId: string, jobs: readonly { readonly id: string }[]): Promise<void> {
  const ids = jobs.map(({ id }) => id).sort();
  if (ids.length > 0) await storeJobFacts(tx, companyId, ids, await factsOfJobs(tx, companyId, ids));
}

/** The jobs of `ids` whose stored facts differ from their read models. */
export async function wrongJobFacts(db: Queryable, companyId: string, ids: readonly string[]): Promise<string[]> {
  const facts = await factsOfJobs(db, companyId, ids);
  const { rows } = await db.query<{ id: string }>({
    name: 'wrong_job_facts',
    text: `with derived as (select ${VALUES.join(', ')} from unnest(${PARAMETERS}) d(${NAMES.join(', ')}))
      select u.id from unnest($1::uuid[]) u(id) left join derived d on d.id = u.id left join job_facts f on f.company_id = $${NAMES.length + 2} and f.id = u.id
      where (${listOf('f')}) is distinct from (${listOf('d')}) order by 1`,
    values: [binaryArrays.uuid(ids), ...arraysOf(facts), companyId],
  });
  return rows.map(({ id }) => id);
}

/** The next ids after `after`, ascending, of jobs with a financial or a fact. */
export async function jobsAfter(db: Queryable, companyId: string, after: string | null, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    name: 'next_of_jobs',
    text: `(select id from job_financials where company_id = $1 and ($2::uuid is null or id > $2) order by id limit $3)
      union (select id from job_facts where company_id = $1 and ($2::uuid is null or id > $2) order by id limit $3)
      order by id limit $3`,
    values: [companyId, after, limit],
  });
  return rows.map(({ id }) => id);
}
