// Filters of the lists of invoices and payments: parameters of the address, and what is wrong with them.
import { addDays, faultOf, isDay } from '../reports/calendar.ts';

/** A parameter of the address: a text, one of the choices, the first of which is no filter, or the first day of a range of days. */
export interface Filter {
  readonly name: string;
  readonly title: string;
  readonly dollars?: boolean;
  readonly choices?: readonly (readonly [value: string, title: string])[];
  /** The parameter with the last day of the range. */
  readonly to?: string;
}

/** The cents of an amount in dollars: "120.5", "$1,000.50". Undefined if it is none. */
export const centsIn = (text: string): number | undefined =>
  /^\$?(?=\.?\d)(\d{0,9}|\d{1,3}(,\d{3}){1,2})(\.\d\d?)?$/.test(text) ? Math.round(Number(text.replace(/[$,]/g, '')) * 100) : undefined;

export const dayIn = (query: URLSearchParams, name: string): string | undefined => (isDay(query.get(name) ?? '') ? query.get(name)! : undefined);

/** The day after the one in the address, which the API's filters exclude. */
export const dayAfter = (query: URLSearchParams, name: string): string | undefined => {
  const day = dayIn(query, name);
  return day === undefined ? undefined : addDays(day, 1);
};

/** Faults of the filters in an address, by name. A list with faults sends no request. */
export function faultsOf(filters: readonly Filter[], query: URLSearchParams): ReadonlyMap<string, string> {
  const faults = filters.map((filter) => [filter.name, faultIn(filter, query)] as const);
  return new Map(faults.filter((each): each is [string, string] => each[1] !== undefined));
}

function faultIn({ name, dollars, choices, to }: Filter, query: URLSearchParams): string | undefined {
  const value = query.get(name) ?? '';
  if (to !== undefined) return faultOf(value) ?? faultOf(query.get(to) ?? '', value);
  if (value === '') return undefined;
  if (dollars && centsIn(value) === undefined) return 'Give an amount in dollars, such as 120.50.';
  return choices?.every(([each]) => each !== value) ? `“${value}” is none of the choices.` : undefined;
}
