// The table of runs. A run processes the records of all companies, so the company_id of its row is a cursor.
import type { CatchUpRun } from '@truckroll/contract/gen/records/v1/catch_up';
import { migrationsIn, type Queryable, type Transaction } from '@truckroll/postgres';
import type { Cursor, Task } from './task.ts';

export const catchUpMigrations = migrationsIn('catch-up', new URL('../migrations/', import.meta.url));

const FIRST = '00000000-0000-0000-0000-000000000000';
const BEGINNING = `company_id = '${FIRST}', after = '${FIRST}', processed = 0, done = false`;

export type Run = Omit<CatchUpRun, 'total'>;

export async function runsIn(db: Queryable): Promise<Run[]> {
  const { rows } = await db.query<Run>({ text: 'select task, subject, processed, done, complete from catch_up order by task, subject' });
  return rows;
}

/** The runs of a task, by subject. Creates missing ones: the subject is new in this release. */
export async function runsOf(db: Queryable, { name, subjects = [] }: Task): Promise<Run[]> {
  const read = {
    name: 'catch_up_runs',
    text: 'select task, subject, processed, done, complete from catch_up where task = $1 and subject = any($2::text[]) order by subject',
    values: [name, subjects],
  };
  const { rows } = await db.query<Run>(read);
  if (rows.length === subjects.length) return rows;
  await db.query({
    name: 'add_catch_up_runs',
    text: 'insert into catch_up (task, subject) select $1, unnest($2::text[]) on conflict do nothing',
    values: [name, subjects],
  });
  return (await db.query<Run>(read)).rows;
}

/** Begins a task's finished runs again. Gates that they have opened stay open. */
export async function beginAgain(db: Queryable, task: string): Promise<void> {
  await db.query({ text: `update catch_up set ${BEGINNING} where task = $1 and done`, values: [task] });
}

/** Begins a task's runs again and closes their gates: after a restore, what they did may be lost. */
export async function restartRuns(db: Queryable, task: string): Promise<void> {
  await db.query({ text: `update catch_up set ${BEGINNING}, complete = false where task = $1`, values: [task] });
}

/** Subjects of which some of the company's records may not have been processed. */
export async function incompleteFor(db: Queryable, task: string, subjects: readonly string[], companyId: string): Promise<string[]> {
  const { rows } = await db.query<{ subject: string }>({
    name: 'catch_up_incomplete',
    text: `select s.subject from unnest($2::text[]) s (subject) left join catch_up c on c.task = $1 and c.subject = s.subject
      where c.complete is not true and (c.company_id is null or c.company_id <= $3) order by s.subject`,
    values: [task, subjects, companyId],
  });
  return rows.map(({ subject }) => subject);
}

/**
 * Does the next batch of a run, whose row stays locked until the transaction ends: that works through a pooler, and ends with a crash. Returns
 * undefined if the run has ended, or another replica is doing a batch.
 */
export async function advance(tx: Transaction, { name, next }: Task, subject: string): Promise<{ count: number; more: boolean } | undefined> {
  const { rows } = await tx.query<{ company_id: string | null; after: string | null }>({
    name: 'catch_up_at',
    text: 'select company_id, after from catch_up where task = $1 and subject = $2 and not done for update skip locked',
    values: [name, subject],
  });
  const [at] = rows;
  if (at === undefined || next === undefined) return undefined;
  // Earlier releases begin at null.
  const cursor: Cursor = { companyId: at.company_id ?? FIRST, id: at.after ?? FIRST };
  const { count, reached } = await next(tx, subject, cursor);
  await tx.query(
    reached === undefined
      ? {
          name: 'catch_up_ends',
          text: 'update catch_up set processed = processed + $3, done = true, complete = true where task = $1 and subject = $2',
          values: [name, subject, count],
        }
      : {
          name: 'catch_up_proceeds',
          text: 'update catch_up set processed = processed + $3, company_id = $4, after = $5 where task = $1 and subject = $2',
          values: [name, subject, count, reached.companyId, reached.id],
        },
  );
  return { count, more: reached !== undefined };
}
