// Job classes are part of the contract, not a company's data: every company has the same ones.
import { JOB_CLASS_NAMES, resource, type JsonProblem } from '@truckroll/contract';
import { JobClassGroup, type JobClassDefinition } from '@truckroll/contract/gen/scheduling/v1/job_classes';
import { JobClass } from '@truckroll/contract/gen/type/v1/type';
import type { Database } from '@truckroll/postgres';
import { EVERY_COMPANY, defineTable, upsertRecords } from '@truckroll/record-store';

const { SERVICE, SALES, INSTALL, OTHER } = JobClassGroup;

const ROWS: readonly [code: keyof typeof JOB_CLASS_NAMES, group: JobClassGroup, legacy?: boolean][] = [
  ['SERVICE', SERVICE],
  ['MAINTENANCE', SERVICE],
  ['ESTIMATE_REPAIR', SALES],
  ['ESTIMATE_REPLACE', SALES],
  ['INSTALL', INSTALL],
  ['WARRANTY', SERVICE],
  ['CALLBACK', SERVICE],
  ['SALES', SALES, true],
  ['UNKNOWN', OTHER, true],
];
const DEFINITIONS: readonly JobClassDefinition[] = ROWS.map(([code, group, legacy = false]) => {
  return { id: JobClass[code], name: JOB_CLASS_NAMES[code], group, legacy };
});

export const jobClasses = defineTable<JobClassDefinition>({
  resource: resource('job-classes'),
  table: 'job_classes',
  everyCompany: true,
  columns: { group: 'group' },
  check: refuseDifferent,
});

/** Lines must equal the definitions, so that an export can be imported without changing anything. */
function refuseDifferent(given: JobClassDefinition): JsonProblem[] {
  const fixed = DEFINITIONS.find(({ id }) => id === given.id);
  return (['name', 'group', 'legacy'] as const).flatMap((field) => {
    if (fixed === undefined || fixed[field] === given[field]) return [];
    return [{ field, code: 'INVALID_FORMAT' as const, message: 'Job classes are fixed: leave the line out, or give it unchanged.' }];
  });
}

/** Stores definitions that are missing or differed in an earlier release. Safe to race. */
export async function storeJobClasses(database: Database): Promise<void> {
  await database.transaction((tx) => upsertRecords(tx, jobClasses, EVERY_COMPANY, DEFINITIONS), { retryContention: true });
}
