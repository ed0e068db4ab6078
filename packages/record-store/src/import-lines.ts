import { problemsOfJsonText, readMessage, type JsonProblem } from '@truckroll/contract';
import type { LineProblem } from '@truckroll/contract/gen/records/v1/records';
import type { Defects } from './defects.ts';
import { LARGEST_RECORD } from './large.ts';
import { RecordTooLarge, reasonOf } from './record-error.ts';
import type { Table } from './table.ts';
import { encodeRecord, type Encoded } from './upsert.ts';

export interface Line extends Encoded<unknown> {
  /** Counted from 1 in the file. */
  number: number;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The records of the lines, one per id; empty lines are skipped. `first` is the number of the first line. */
export function readLines(table: Table<unknown>, texts: readonly Uint8Array[], first: number, defects: Defects): { lines: Line[]; problems: LineProblem[] } {
  const problems: LineProblem[] = [];
  const byId = new Map<string, Line>();
  texts.forEach((text, index) => {
    if (text.length === 0) return;
    const number = first + index;
    const read = attempt(table, text, number, defects);
    if ('problems' in read) {
      problems.push(...read.problems.map((problem) => ({ line: number, ...problem })));
      return;
    }
    const { id } = read.encoded;
    const before = byId.get(id);
    if (before !== undefined) problems.push({ line: before.number, ...replacedBy(number) });
    byId.set(id, { ...read.encoded, number });
  });
  return { lines: [...byId.values()], problems };
}

function attempt(table: Table<unknown>, text: Uint8Array, number: number, defects: Defects): { encoded: Encoded<unknown> } | { problems: JsonProblem[] } {
  try {
    const read = readLine(table, text);
    const outcome = 'problems' in read ? read : { encoded: encodeRecord(table, read.record) };
    defects.passed();
    return 'encoded' in outcome ? refuseTooLarge(table, outcome.encoded) : outcome;
  } catch (error) {
    return { problems: [defects.problemOf(number, error)] };
  }
}

function refuseTooLarge({ path }: Table<unknown>, encoded: Encoded<unknown>): { encoded: Encoded<unknown> } | { problems: JsonProblem[] } {
  const { id, document } = encoded;
  if (document.length <= LARGEST_RECORD) return { encoded };
  const message = reasonOf(new RecordTooLarge(path, id, document.length));
  return { problems: [{ field: '(line)', code: 'TOO_LARGE', message }] };
}

/** Later lines win, so the error is reported for the earlier one. */
function replacedBy(number: number): JsonProblem {
  return { field: 'id', code: 'INVALID_FORMAT', message: `Line ${number} has the same id and replaces this one: leave one of them out.` };
}

/** Checks one line of an import, or one stored record as JSON, against all rules for lines. */
export function readLine(table: Table<unknown>, line: Uint8Array): { record: unknown } | { problems: JsonProblem[] } {
  let text: string;
  let json: unknown;
  try {
    text = utf8.decode(line);
    json = JSON.parse(text);
  } catch {
    return { problems: [{ field: '(line)', code: 'INVALID_FORMAT', message: 'Give one JSON object in UTF-8 on a line.' }] };
  }
  const { record: shape } = table.resource;
  const { value, problems } = readMessage(shape, json);
  problems.push(...problemsOfJsonText(shape, text, json));
  if (problems.length === 0) problems.push(...(table.check?.(value) ?? []));
  return problems.length === 0 ? { record: value } : { problems };
}
