// Codes and addresses of the API in words.
import type { Account } from '../api/business.ts';

/** "Past due" of PAST_DUE */
export const titleCase = (code: string): string => (code.charAt(0) + code.slice(1).toLowerCase()).replaceAll('_', ' ');

export const METHODS = [
  { id: 'CARD', name: 'Card' },
  { id: 'ACH', name: 'Bank transfer (ACH)' },
  { id: 'CASH', name: 'Cash' },
  { id: 'CHECK', name: 'Check' },
  { id: 'PAYPAL', name: 'PayPal' },
  { id: 'VENMO', name: 'Venmo' },
  { id: 'CASHAPP', name: 'Cash App' },
  { id: 'WISETACK_LOAN', name: 'Wisetack loan' },
  { id: 'OTHER', name: 'Other' },
];

export const methodName = (code: string): string => METHODS.find(({ id }) => id === code)?.name ?? code;

/** "8.25 %" of 0.0825 */
export const rate = (share: number): string => `${Number((share * 100).toFixed(3)).toLocaleString()} %`;

/** "Austin, TX": customers of one name differ in it. */
export const place = ({ billing_address: address }: Pick<Account, 'billing_address'>): string =>
  address === null ? '' : [address.city, address.state].filter((part) => part !== '').join(', ');

interface Reached {
  readonly id: string;
  readonly name: string;
  readonly email?: string | null;
  readonly phone?: string | null;
}

/** Records with names that differ: those of one name are followed by their e-mail address, telephone number or the end of their id, because ids of one day begin alike. */
export function toldApart<T extends Reached>(records: readonly T[]): T[] {
  const named = Map.groupBy(records, ({ name }) => name);
  return records.map((of) => {
    const others = named.get(of.name)!.filter((each) => each !== of);
    if (others.length === 0) return of;
    const beside = (['email', 'phone'] as const).find((field) => of[field] && others.every((each) => each[field] !== of[field]));
    return { ...of, name: `${of.name} (${beside === undefined ? of.id.slice(-8) : of[beside]})` };
  });
}
