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
  const faults = new Map<string, string>();
  for (const { name, dollars, choices, to } of filters) {
    const value = query.get(name) ?? '';
    const last = to && (query.get(to) ?? '');
    const fault =
      last !== undefined
        ? (faultOf(value) ?? faultOf(last, value))
        : value === ''
          ? undefined
          : dollars && centsIn(value) === undefined
            ? 'Give an amount in dollars, such as 120.50.'
            : choices?.every(([each]) => each !== value)
              ? `“${value}” is none of the choices.`
              : undefined;
    if (fault !== undefined) faults.set(name, fault);
  }
  return faults;
}
