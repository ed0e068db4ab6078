// What the filters search, phone and email ask of a record's entries, as conditions on its row and as ranges of the table of entries.
import { emailTerm, phoneTerm, searchTerms, type Term, type Wanted } from '@truckroll/contract';
import type { ListRequest } from './list-request.ts';
import { isSearched, SEARCH, type Table } from './table.ts';

const TERMS = {
  search: (asked: string): Term[] => searchTerms(asked),
  phone: (asked: readonly string[]): Term[] => (asked.length === 0 ? [] : [phoneTerm(asked)]),
  email: (asked: readonly string[]): Term[] => (asked.length === 0 ? [] : [emailTerm(asked)]),
};

/** A record matches if it meets every term. */
export function termsOf({ resource }: Pick<Table, 'resource'>, request: ListRequest): Term[] {
  return resource.list.parameters.flatMap(({ name, filter }) => {
    const asked = request[name];
    return isSearched(filter) && asked != null ? TERMS[filter?.comparison as keyof typeof TERMS](asked as never) : [];
  });
}

/** SQL condition on the row `t`. */
export function conditionOfTerm(term: Term, bind: (value: unknown, type: string) => string): string {
  const condition = (wanted: Wanted): string => {
    const patterns = patternsOf(wanted);
    return `t.${SEARCH} like ${patterns.length === 1 ? bind(patterns[0], 'text') : `any(${bind(patterns, 'text[]')})`}`;
  };
  return `(${term.map((all) => all.map(condition).join(' and ')).join(' or ')})`;
}

function patternsOf({ start, more }: Wanted): string[] {
  const escaped = start.replace(/[\\%_]/g, String.raw`\$&`);
  if (more === undefined) return [`%\n${escaped}%`];
  return Array.from({ length: more + 1 }, (_, some) => `%\n${escaped}${'_'.repeat(some)}\n%`);
}

/** The lowest entry that may match, and the lowest one above all that do, by the order of code points. */
export function rangeOf({ start, more }: Wanted): [low: string, high: string] {
  return [start, `${start}${more === 0 ? '\u0001' : '\u{10ffff}'}`];
}
