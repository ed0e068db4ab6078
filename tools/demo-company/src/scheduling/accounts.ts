import { drawOf, idOf, type Company, type Reference } from '../company.ts';
import { hash, stream, type Draw } from '../random/keyed.ts';
import { Rota } from '../random/rota.ts';
import { pickTags } from '../reference/tags.ts';
import { DAY, HOUR, MINUTE, instantText } from '../time/instant.ts';
import { BUSINESS_FIRST, BUSINESS_KINDS } from '../words/names.ts';
import type { City } from '../words/places.ts';
import { addressIn, phoneIn } from './address.ts';
import { contactRef, contactCount } from './contacts.ts';
import { personOf, type Person } from './person.ts';

const ACCOUNTS = stream('accounts');
const DETAILS = stream('account details');
const CITIES = stream('cities of accounts');

const KINDS = new Rota('account kinds', [['residential', 4], ['commercial', 1]]);
const ARCHIVED = new Rota('archived accounts', [[true, 1], [false, 14]]);
const REFUSED = new Rota('accounts without service', [[true, 1], [false, 19]]);

/** One account of this many was merged into the one before it. */
const MERGED_EVERY = 41;
/** The share of accounts that came before the two years of history, the first tenth of all in one import. */
const BEFORE_HISTORY = 0.35;
const IMPORTED = 0.1;

export function isCommercial(company: Company, n: number): boolean {
  return KINDS.at(company.seed, n) === 'commercial';
}

/** The account itself, or the one that it was merged into. */
export function survivorOf(n: number): number {
  return n % MERGED_EVERY === MERGED_EVERY - 1 ? n - 1 : n;
}

export function cityOf(company: Company, n: number): City {
  return company.cities[hash(company.seed, CITIES, n) % company.cities.length] as City;
}

interface Customer {
  readonly name: string;
  readonly person: Person;
  /** Of a business: the kind of building it is in. */
  readonly building: string | null;
}

export function customerOf(company: Company, n: number): Customer {
  const draw = drawOf(company, ACCOUNTS, n);
  const person = personOf(draw);
  if (!isCommercial(company, n)) return { name: person.name, person, building: null };
  const [kind, building] = draw.pick(BUSINESS_KINDS);
  return { name: `${draw.pick(BUSINESS_FIRST)} ${kind}`, person, building };
}

export function accountId(company: Company, n: number): string {
  return idOf(company, ACCOUNTS, n);
}

export function accountRef(company: Company, n: number): Reference {
  return { id: idOf(company, ACCOUNTS, n), name: customerOf(company, n).name };
}

/** How many accounts there were when booking n of `jobs` was taken; accounts are numbered in the order they came. */
export function accountsAt(company: Company, n: number): number {
  const { accounts, jobs } = company.size;
  const before = Math.ceil(accounts * BEFORE_HISTORY);
  return Math.min(accounts, before + Math.floor(((n + 0.5) / jobs) * (accounts - before) + 0.5));
}

export function accountCreatedAt(company: Company, n: number): number {
  const { size, founded, since } = company;
  const before = Math.ceil(size.accounts * BEFORE_HISTORY);
  const imported = Math.ceil(size.accounts * IMPORTED);
  if (n < imported) return founded;
  if (n < before)
    return founded + Math.floor(((n - imported + 1) / (before + 1)) * ((since - founded) / DAY)) * DAY + n * MINUTE;
  return company.signups.bookedAt(n - before) - HOUR;
}

export function signupCount(accounts: number): number {
  return Math.max(1, accounts - Math.ceil(accounts * BEFORE_HISTORY));
}

/** An instant between two others, for the last edit of a record. */
export function editedAt(draw: Draw, createdAt: number, until: number): number {
  return draw.chance(0.6) ? createdAt : createdAt + Math.floor(draw.next() * (until - createdAt));
}

export function buildAccount(company: Company, n: number) {
  const { name, person, building } = customerOf(company, n);
  const draw = drawOf(company, DETAILS, n);
  const city = cityOf(company, n);
  const commercial = building !== null;
  const createdAt = accountCreatedAt(company, n);
  const survivor = survivorOf(n);
  const merged = survivor !== n;
  const source = draw.pick(company.leadSources).ref;
  return {
    id: idOf(company, ACCOUNTS, n),
    name,
    type: commercial ? ('COMMERCIAL' as const) : ('RESIDENTIAL' as const),
    archived: merged || ARCHIVED.at(company.seed, n),
    company_name: commercial ? name : null,
    phone: draw.orNull(0.15, phoneIn(city, draw)),
    email: draw.orNull(0.3, `${commercial ? 'billing' : person.handle}.${n}@example.com`),
    billing_address: draw.orNull(0.4, addressIn(company, city, draw, 1, n)),
    primary_contact: contactCount(company, n) === 0 ? null : contactRef(company, n, 0),
    lead_source: draw.orNull(0.3, source),
    tags: pickTags(company.tags, 'ACCOUNT', draw),
    do_not_service: REFUSED.at(company.seed, n),
    notifications_enabled: draw.chance(0.85),
    merged_into_id: merged ? idOf(company, ACCOUNTS, survivor) : null,
    created_by: draw.orNull(0.3, draw.pick(company.members.office).ref),
    created_at: instantText(createdAt),
    updated_at: instantText(editedAt(draw, createdAt, company.until)),
  };
}
