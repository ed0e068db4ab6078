// A company with many accounts and invoices, and searches of it: of rare words, frequent ones, and frequent ones that seldom meet.
import { createHash } from 'node:crypto';
import type { DemoFile } from '@truckroll/demo-company';

export interface SearchCase {
  readonly path: 'accounts' | 'invoices';
  readonly search: string;
  readonly kind: 'two_words' | 'three_letters' | 'two_letters';
}

/** Each first name is the name of a fortieth of the accounts, and each last name of a fiftieth. */
const FIRST =
  'Maria James Ana Robert Linda José Wei Sofía David Renée Carlos Emma Noah Olivia Liam Ava Mason Mia Lucas Zoë Ethan Ella Logan Chloe Aiden Lily Jack Nora Owen Ruth Henry Iris Caleb Vera Isaac Elena Felix Clara Hugo Alma'.split(
    ' ',
  );
const LAST =
  'García Smith Nguyen Johnson López Williams Brown Jones Miller Davis Rodríguez Martínez Wilson Anderson Thomas Taylor Moore Jackson Martin Lee Pérez Thompson White Harris Sánchez Clark Ramírez Lewis Robinson Walker Young Allen King Wright Scott Torres Hill Flores Green Adams Nelson Baker Hall Rivera Campbell Mitchell Carter Roberts Gómez Phillips'.split(
    ' ',
  );
const CITIES = ['Austin', 'Round Rock', 'San Marcos', 'Georgetown', 'Leander', 'Kyle', 'Buda', 'Lockhart', 'Bastrop', 'Pflugerville'];
const STREETS = ['Congress Ave', 'Lamar Blvd', 'Guadalupe St', 'Burnet Rd', 'Oltorf St', 'Riverside Dr', 'Manor Rd', 'Red River St'];
/** One account in BOTH is in both neighbourhoods. The first and the last tenth of the accounts are in one of them. */
const BOTH = 50_000;
const YEARS = 4;
const SECOND = 1000;

export const SEARCHES: readonly SearchCase[] = [
  { path: 'accounts', search: 'maria garcia', kind: 'two_words' },
  { path: 'accounts', search: 'garcia austin', kind: 'two_words' },
  { path: 'accounts', search: 'northside southside', kind: 'two_words' },
  { path: 'accounts', search: 'maria 77123', kind: 'two_words' },
  { path: 'invoices', search: 'inv 2023', kind: 'two_words' },
  { path: 'invoices', search: 'inv 000777', kind: 'two_words' },
  { path: 'accounts', search: 'mar', kind: 'three_letters' },
  { path: 'accounts', search: 'com', kind: 'three_letters' },
  { path: 'accounts', search: '771', kind: 'three_letters' },
  { path: 'accounts', search: 'zoe', kind: 'three_letters' },
  { path: 'invoices', search: '2023', kind: 'three_letters' },
  { path: 'invoices', search: '000', kind: 'three_letters' },
  { path: 'accounts', search: 'ga', kind: 'two_letters' },
  { path: 'accounts', search: 'zo', kind: 'two_letters' },
  { path: 'invoices', search: '00', kind: 'two_letters' },
];

export function searchedFiles(accounts: number, invoices: number): DemoFile[] {
  return [
    { path: 'accounts', records: accountsOf(accounts) },
    { path: 'invoices', records: invoicesOf(invoices, accounts) },
  ] as DemoFile[];
}

const idOf = (kind: number, number: number): string => `${kind}0000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** Times are spread evenly over YEARS. */
function timeOf(number: number, all: number): string {
  const span = YEARS * 365 * 86_400 * SECOND;
  return new Date(Date.UTC(2020, 0, 1) + Math.floor((span * number) / all / SECOND) * SECOND).toISOString().replace('.000', '');
}

function* accountsOf(count: number): Generator<object> {
  for (let number = 0; number < count; number++) {
    const dice = createHash('sha256').update(`account ${number}`).digest();
    const pick = (from: readonly string[], at: number): string => from[dice.readUInt16BE(at) % from.length] as string;
    const [first, last, city] = [pick(FIRST, 0), pick(LAST, 2), pick(CITIES, 4)];
    const line = `${1 + (dice.readUInt16BE(6) % 9999)} ${pick(STREETS, 8)}`;
    const postal = String(77_000 + (dice.readUInt16BE(10) % 1000));
    const north = number < count / 10 || number % BOTH === 7;
    const south = number >= count - count / 10 || number % BOTH === 7;
    const at = timeOf(number, count);
    yield {
      id: idOf(1, number),
      name: `${first} ${last}`,
      type: 'RESIDENTIAL',
      archived: false,
      company_name: north || south ? `${north ? 'Northside ' : ''}${south ? 'Southside ' : ''}Homes` : null,
      phone: `+1512${String(2_000_000 + number).padStart(7, '0')}`,
      email: `${first}.${last}.${number}@example.com`.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase(),
      billing_address: { id: idOf(2, number), formatted: `${line}, ${city}, TX ${postal}`, line_1: line, line_2: null, city, state: 'TX', postal_code: postal },
      tags: [],
      do_not_service: false,
      notifications_enabled: true,
      created_at: at,
      updated_at: at,
    };
  }
}

function* invoicesOf(count: number, accounts: number): Generator<object> {
  for (let number = 0; number < count; number++) {
    const at = timeOf(number, count);
    yield {
      id: idOf(3, number),
      number: `INV-${at.slice(0, 4)}-${String(number).padStart(7, '0')}`,
      status: 'OPEN',
      account: { id: idOf(1, number % accounts), name: 'An account' },
      location_id: idOf(4, number % accounts),
      created_at: at,
      updated_at: at,
      issued_at: at,
      due_at: at,
      currency: 'USD',
      pricing_multiplier: 1,
      line_items: [],
      discounts: [],
      tax: { name: 'None', rate: 0, rounding: 'round' },
      amounts: { subtotal_cents: 0, discount_cents: 0, discounted_subtotal_cents: 0, tax_cents: 0, total_cents: 0 },
    };
  }
}
