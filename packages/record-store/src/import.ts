// Imports one service's records (decisions §10): takes lines of JSON, returns counts and the reason for every bad line.
import { ApiError } from '@truckroll/contract';
import type { ImportRequest, ImportResponse, LineProblem } from '@truckroll/contract/gen/records/v1/records';
import { appending, auditEvent, refuseErased, type AuditedService, type OutgoingEvent } from '@truckroll/outbox';
import { isContention, type Database, type Transaction } from '@truckroll/postgres';
import { handled } from '@truckroll/process';
import { planForAnyCompany } from './any-company.ts';
import { defectsIn, isDefect, type DefectLog, type Defects } from './defects.ts';
import { requireSamePeople, withoutErasedPeople, type Looked } from './erase-people.ts';
import { readLines, type Line } from './import-lines.ts';
import { lockCompany } from './lock.ts';
import { RecordError, liesInRecords, reasonOf } from './record-error.ts';
import { storedUnder, type Table } from './table.ts';
import { upsertEncoded } from './upsert.ts';

type Outcome = Omit<ImportResponse, 'first_line' | 'lines'>;

interface Storing {
  table: Table<unknown>;
  store: (lines: readonly Line[]) => Promise<Outcome>;
  defects: Defects;
}

export interface ReadBatch {
  request: ImportRequest;
  table: Table<unknown>;
  lines: readonly Line[];
  problems: readonly LineProblem[];
  defectLog: DefectLog;
}

export async function importBatch(
  database: Database,
  tables: readonly Table[],
  request: ImportRequest,
  defectLog: DefectLog,
  then: 'keep' | 'undo' = 'keep',
): Promise<ImportResponse> {
  return storeBatch(database, readBatch(tables, request, defectLog), { then });
}

/** Errors: 400 for a path that this service does not own. */
export function readBatch(tables: readonly Table[], request: ImportRequest, defectLog: DefectLog): ReadBatch {
  const table = tables.find((candidate) => candidate.path === request.path) as Table<unknown> | undefined;
  if (table === undefined) {
    const known = tables.map((candidate) => candidate.path).join(', ');
    const message = `This service imports ${known}.`;
    throw ApiError.invalid([{ location: 'body', field: 'path', code: 'INVALID_ENUM_VALUE', message }]);
  }
  return { request, table, defectLog, ...readLines(table, request.lines, request.first_line, defectsOf(request, defectLog)) };
}

interface StoreOptions {
  /** Default 'keep'. */
  then?: 'keep' | 'undo';
  /** Called while PostgreSQL executes the largest statement, so that other work overlaps with it. */
  whileWaiting?: () => void;
}

/**
 * Stores one batch. A bad line, or one on which a rule fails, is reported and does not stop the others. Sending the same batch again
 * changes nothing. Errors: 503 if sending it again may help; 500 for a failure that no line caused.
 */
export async function storeBatch(database: Database, batch: ReadBatch, options: StoreOptions = {}): Promise<ImportResponse> {
  const { request, table, problems, defectLog } = batch;
  const { lines, refused, people } = await withoutErasedPeople(database.of(request.company_id), table, request.company_id, batch.lines);
  const store = (some: readonly Line[]): Promise<Outcome> => storeTogether(database, table, request.company_id, some, { ...options, people });
  const storing = { table, store, defects: defectsOf(request, defectLog) };
  const stored = lines.length === 0 ? { created: 0, changed: 0, unchanged: 0, problems: [] } : await storeApart(lines, storing);
  const all = [...problems, ...refused.map(erasedProblem), ...stored.problems].sort((a, b) => a.line - b.line);
  return { first_line: request.first_line, lines: request.lines.length, ...stored, problems: all };
}

const erasedProblem = ({ number: line }: Line): LineProblem => ({
  line,
  field: 'id',
  code: 'OUT_OF_RANGE',
  message: 'The person with this id was erased, so the line was not stored: leave it out.',
});

const defectsOf = ({ path, company_id }: ImportRequest, defectLog: DefectLog): Defects => defectsIn({ path, company_id }, defectLog);

/** Stores all lines in one transaction. If a line cannot be stored, splits them in halves until the bad lines are alone. */
async function storeApart(lines: readonly Line[], storing: Storing): Promise<Outcome> {
  const { table, store, defects } = storing;
  try {
    const outcome = await store(lines);
    defects.passed();
    return outcome;
  } catch (error) {
    if (isContention(error)) throw ApiError.unavailable(error, 1);
    const ofRecords = liesInRecords(error);
    if (!ofRecords && !isDefect(error)) throw error;
    const [line] = lines as [Line];
    if (lines.length === 1) {
      const problem = ofRecords ? problemOf(table, line, error) : { line: line.number, ...defects.problemOf(line.number, error) };
      return { created: 0, changed: 0, unchanged: 0, problems: [problem] };
    }
    const middle = lines.length >> 1;
    const first = await storeApart(lines.slice(0, middle), storing);
    const second = await storeApart(lines.slice(middle), storing);
    return {
      created: first.created + second.created,
      changed: first.changed + second.changed,
      unchanged: first.unchanged + second.unchanged,
      problems: [...first.problems, ...second.problems],
    };
  }
}

async function storeTogether(
  database: Database,
  table: Table<unknown>,
  companyId: string,
  lines: readonly Line[],
  { then = 'keep', whileWaiting, people }: StoreOptions & { people: Looked },
): Promise<Outcome> {
  const store = async (tx: Transaction): Promise<Outcome> => {
    const locked = handled(
      Promise.all([planForAnyCompany(tx), lockCompany(tx, companyId), refuseErased(tx, companyId), requireSamePeople(tx, companyId, people)]),
    );
    // Sent behind the lock in the same pipeline, so it is executed once the lock is held.
    const { created, changed, unchanged } = await upsertEncoded(tx, table, storedUnder(table, companyId), lines, whileWaiting);
    await locked;
    for (const { record } of changed) table.checkShown?.(record);
    const outcome = { created, changed: changed.length - created, unchanged, problems: [] };
    if (then === 'undo') throw new Undone(outcome);
    await tx.finish([appending([importedBy(table, companyId, lines, outcome)])]);
    return outcome;
  };
  return await database
    .of(companyId)
    .transaction(store, { retryContention: true })
    .catch((error: unknown) => {
      if (error instanceof Undone) return error.outcome;
      throw error;
    });
}

function importedBy({ path, resource }: Table<unknown>, companyId: string, lines: readonly Line[], outcome: Outcome): OutgoingEvent {
  const { created, changed, unchanged } = outcome;
  const after = JSON.stringify({ firstLine: lines[0]?.number, lines: lines.length, created, changed, unchanged });
  return auditEvent(resource.owner as AuditedService, { companyId, action: 'records.imported', object: { kind: 'imports', id: path }, after });
}

class Undone extends Error {
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super('the import is undone, as was asked');
    this.outcome = outcome;
  }
}

function problemOf(table: Table<unknown>, { number, id, record }: Line, error: unknown): LineProblem {
  const message = reasonOf(error);
  const own = error instanceof RecordError && error.path === table.path && error.id === id;
  const field = error instanceof RecordError ? (own ? error.field : table.leadsTo?.(record, error.id)) : undefined;
  return { line: number, field: field ?? '(line)', code: error instanceof RecordError ? 'OUT_OF_RANGE' : 'TOO_LARGE', message };
}
