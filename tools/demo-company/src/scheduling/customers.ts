import type { Company } from '../company.ts';
import { drawOf, idOf, type Reference } from '../ground.ts';
import { stream, type Draw } from '../random/keyed.ts';
import { Rota } from '../random/rota.ts';
import { DAY, HOUR, MINUTE } from '../time/instant.ts';
import { BUSINESS_FIRST, BUSINESS_KINDS } from '../words/names.ts';
import { personOf, type Person } from '../words/person.ts';

const ACCOUNTS = stream('accounts');

const KINDS = new Rota('account kinds', [
  ['residential', 4],
  ['commercial', 1],
]);

/** Every MERGED_EVERY-th account was merged into the previous account. */
const MERGED_EVERY = 41;
/** Share of accounts that predate the two years of history; the first tenth of all accounts came in one import. */
const BEFORE_HISTORY = 0.35;
const IMPORTED = 0.1;

export function isCommercial(company: Company, n: number): boolean {
  return KINDS.at(company.seed, n) === 'commercial';
}

export function survivorOf(n: number): number {
  return n % MERGED_EVERY === MERGED_EVERY - 1 ? n - 1 : n;
}

interface Customer {
  readonly name: string;
  readonly person: Person;
  /** For a business: the kind of building it is in. */
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

/** Number of accounts when booking n was taken; accounts are numbered in creation order. */
export function accountsAt(company: Company, n: number): number {
  const { accounts } = company.size;
  const before = Math.ceil(accounts * BEFORE_HISTORY);
  return Math.min(accounts, before + Math.floor(((n + 0.5) / company.history) * (accounts - before) + 0.5));
}

export function accountCreatedAt(company: Company, n: number): number {
  const { size, founded, since } = company;
  const before = Math.ceil(size.accounts * BEFORE_HISTORY);
  const imported = Math.ceil(size.accounts * IMPORTED);
  if (n < imported) return founded;
  if (n < before) return founded + Math.floor(((n - imported + 1) / (before + 1)) * ((since - founded) / DAY)) * DAY + n * MINUTE;
  return company.signups.bookedAt(n - before) - HOUR;
}

export function signupCount(accounts: number): number {
  return Math.max(1, accounts - Math.ceil(accounts * BEFORE_HISTORY));
}

export function editedAt(draw: Draw, createdAt: number, until: number): number {
  return draw.chance(0.6) ? createdAt : createdAt + Math.floor(draw.next() * (until - createdAt));
}
