// Filters of the lists of invoices and payments: parameters of the address, and what is wrong with them.
import { addDays, dayName, isDay } from '../reports/calendar.ts';

/** A parameter of the address: a text, or one of the choices, the first of which is no filter. */
export interface Filter {
  readonly name: string;
  readonly title: string;
  readonly type?: 'search' | 'date' | 'dollars';
  readonly choices?: readonly (readonly [value: string, title: string])[];
  /** The filter that begins the range of days that this one ends. */
  readonly since?: string;
}

export const dayIn = (query: URLSearchParams, name: string): string | undefined => (isDay(query.get(name) ?? '') ? query.get(name)! : undefined);

/** The day after the one in the address, which the API's filters exclude. */
export const dayAfter = (query: URLSearchParams, name: string): string | undefined => {
  const day = dayIn(query, name);
  return day === undefined ? undefined : addDays(day, 1);
};

/** What an input says that cannot be read. */
export const UNREADABLE = { search: '', date: 'Give a whole date.', dollars: 'Give an amount in dollars, such as 120.50.' } as const;

/** Faults of the filters in an address, by name. A list with faults sends no request. */
export function faultsOf(filters: readonly Filter[], query: URLSearchParams): ReadonlyMap<string, string> {
  const faults = new Map<string, string>();
  for (const { name, type = 'search', since = '' } of filters) {
    const value = query.get(name) ?? '';
    const start = dayIn(query, since);
    if (value === '') continue;
    if (type === 'date' && !isDay(value)) faults.set(name, UNREADABLE.date);
    else if (type === 'dollars' && !/^\d{1,9}(\.\d\d?)?$/.test(value)) faults.set(name, UNREADABLE.dollars);
    else if (start !== undefined && value < start) faults.set(name, `This day is before ${dayName(start)}, on which the range begins.`);
  }
  return faults;
}
