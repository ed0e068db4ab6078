// The current place in the console: the part of the address after #, so that back, forward and reload work.
import { Store } from './store.ts';

export interface Route {
  /** `['endpoints', '<id>']` */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

export const route = new Store<Route>(read());
addEventListener('hashchange', () => route.set(read()));

function read(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#/, '').split('?');
  return {
    path: path
      .split('/')
      .filter((part) => part !== '')
      .map(decode),
    query: new URLSearchParams(query),
  };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Whether a part of an address can be the id of a record. */
export const isId = (text: string): boolean => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text);

function href(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '');
  const search = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`;
}

export function go(to: string): void {
  location.hash = to;
}

/** Replaces the current place in the history, because it no longer exists or was a finished form. */
export function goInstead(to: string): void {
  history.replaceState(null, '', to);
  route.set(read());
}

export const places = {
  home: href(['home']),
  endpoints: href(['endpoints']),
  newEndpoint: href(['endpoints', 'new']),
  endpoint: (id: string, query: Readonly<Record<string, string | undefined>> = {}) => href(['endpoints', id], query),
  editEndpoint: (id: string) => href(['endpoints', id, 'edit']),
  delivery: (id: string, deliveryId: string) => href(['endpoints', id, 'deliveries', deliveryId]),
  keys: href(['keys']),
  newKey: href(['keys', 'new']),
  audit: (query: Readonly<Record<string, string | undefined>> = {}) => href(['audit'], query),
  requests: (query: Readonly<Record<string, string | undefined>> = {}) => href(['requests'], query),
  eventTypes: href(['event-types']),
  customers: (query: Readonly<Record<string, string | undefined>> = {}) => href(['customers'], query),
  customer: (id: string) => href(['customers', id]),
  today: (query: Readonly<Record<string, string | undefined>> = {}) => href(['today'], query),
  schedule: (query: Readonly<Record<string, string | undefined>> = {}) => href(['schedule'], query),
  money: href(['money']),
  invoices: (query: Readonly<Record<string, string | undefined>> = {}) => href(['money', 'invoices'], query),
  payments: (query: Readonly<Record<string, string | undefined>> = {}) => href(['money', 'payments'], query),
  deposits: (query: Readonly<Record<string, string | undefined>> = {}) => href(['money', 'deposits'], query),
  monthEnd: (query: Readonly<Record<string, string | undefined>> = {}) => href(['money', 'month-end'], query),
  reports: href(['reports']),
  /** A view of a report, or what is below it. */
  report: (path: readonly string[], query: URLSearchParams) => `${href(['reports', ...path])}${query.size === 0 ? '' : `?${query.toString()}`}`,
  record: (kind: string, id: string) => href(['records', kind, id]),
};
