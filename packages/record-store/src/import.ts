// The import of one service's records (decisions §10): lines of JSON in, a count and every bad line's reason out.
import { ApiError, readMessage, type JsonProblem } from '@truckroll/contract';
import type { ImportRequest, ImportResponse, LineProblem } from '@truckroll/contract/gen/records/v1/records';
import { isContention, type Database, type Transaction } from '@truckroll/service-kit';
import { lockCompany } from './lock.ts';
import { storedUnder, type Table } from './table.ts';
import { upsertRecords } from './upsert.ts';

/**
 * Stores one batch in one transaction. A bad line is reported and stops nothing else; sending the same batch again
 * changes nothing. Errors: 400 for a path that this service does not own; 503 where sending it again may help.
 */
export async function importBatch(database: Database, tables: readonly Table[], request: ImportRequest): Promise<ImportResponse> {
  const table = tables.find((candidate) => candidate.resource.path === request.path) as Table<unknown> | undefined;
  if (table === undefined) {
    const known = tables.map((candidate) => candidate.resource.path).join(', ');
    const message = `This service imports ${known}.`;
    throw ApiError.invalid([{ location: 'body', field: 'path', code: 'INVALID_ENUM_VALUE', message }]);
  }
  const problems: LineProblem[] = [];
  const records = request.lines.flatMap((line, index) => {
    if (line.length === 0) return [];
    const read = readLine(table, line);
    if ('record' in read) return [read.record];
    problems.push(...read.problems.map((problem) => ({ line: request.first_line + index, ...problem })));
    return [];
  });
  const answer = { first_line: request.first_line, lines: request.lines.length, created: 0, changed: 0, unchanged: 0, problems };
  if (records.length === 0) return answer;
  const store = async (tx: Transaction) => {
    await lockCompany(tx, request.company_id);
    return upsertRecords(tx, table, storedUnder(table, request.company_id), records);
  };
  const stored = await database.of(request.company_id).transaction(store, { retryContention: true }).catch((error: unknown) => {
    throw isContention(error) ? ApiError.unavailable(error, 1) : error;
  });
  const { created, changed, unchanged } = stored;
  return { ...answer, created, changed: changed.length - created, unchanged };
}

function readLine(table: Table<unknown>, line: Uint8Array): { record: unknown } | { problems: JsonProblem[] } {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(line));
  } catch {
    return { problems: [{ field: '(line)', code: 'INVALID_FORMAT', message: 'Give one JSON object in UTF-8 on a line.' }] };
  }
  const { value, problems } = readMessage(table.resource.record, json);
  if (problems.length === 0) problems.push(...(table.check?.(value) ?? []));
  return problems.length === 0 ? { record: value } : { problems };
}
