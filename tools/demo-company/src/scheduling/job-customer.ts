import type { Company } from '../company.ts';
import { drawOf } from '../ground.ts';
import { hash, stream, type Draw } from '../random/keyed.ts';
import type { JobType } from '../reference/job-types.ts';
import { DAY, month } from '../time/instant.ts';
import { accountsAt, isCommercial, survivorOf } from './customers.ts';
import { BATCH_FIRST, BATCH_JOBS, BATCH_RUN, isBatched } from './batches.ts';
import type { Slot } from './board.ts';
import { contactCount } from './contacts.ts';
import { locationCount } from './locations.ts';
import type { JobCustomer } from '../plans.ts';

const TYPES = stream('types of jobs');
const CUSTOMERS = stream('customers of jobs');
const ORIGINALS = stream('original jobs');

/** Chosen so that months with few recorded jobs earn as much as the last month. */
const LARGE_SHARE = 0.075;
const LARGE_LESS = 0.05;

/** Minimum age of a batch, so that it is finished and paid. */
const BATCH_AGE = 150 * DAY;

export function batchOf(company: Company, n: number): number | null {
  if (!isBatched(n)) return null;
  const first = n - (n % BATCH_RUN) + BATCH_FIRST;
  const last = first + BATCH_JOBS - 1;
  const finished = last < company.size.jobs && company.calendar.bookedAt(last) < company.until - BATCH_AGE;
  return finished ? first : null;
}

/** Depends on the season. A type that was archived before the booking is replaced by a current one. */
export function typeOf(company: Company, n: number): JobType {
  const slot = slotOf(company, n);
  if (slot) return slot.type;
  if (isBatched(n)) return company.jobTypes[n % 2 === 0 ? 2 : 4] as JobType;
  const bookedAt = bookedAtOf(company, n);
  const all = company.seasons[month(company.zone.day(bookedAt))] ?? company.jobTypes;
  const season = company.shape.busy ? keptOf(company, n, bookedAt, all) : all;
  const type = season[hash(company.seed, TYPES, n) % season.length] as JobType;
  return type.archivedAt !== null && bookedAt >= type.archivedAt ? (company.jobTypes[4] as JobType) : type;
}

/** Installations are kept where other jobs are left out, so that each month earns what it would with all of them. */
function keptOf(company: Company, n: number, bookedAt: number, season: readonly JobType[]): readonly JobType[] {
  const large = hash(company.seed, TYPES, n, 1) / 2 ** 32 < LARGE_SHARE / company.calendar.densityAt(bookedAt) - LARGE_LESS;
  return season.filter(({ jobClass }) => (jobClass === 'INSTALL') === large);
}

export function slotOf(company: Company, n: number): Slot | undefined {
  return company.board[n - company.history];
}

export function bookedAtOf(company: Company, n: number): number {
  return slotOf(company, n)?.bookedAt ?? company.calendar.bookedAt(n);
}

export function jobCustomer(company: Company, n: number, type: JobType): JobCustomer {
  const original = type.jobClass === 'CALLBACK' || type.jobClass === 'WARRANTY' ? originalOf(company, n) : null;
  const draw = drawOf(company, CUSTOMERS, batchOf(company, original ?? n) ?? original ?? n);
  const account = accountOf(company, original ?? n, draw);
  const location = draw.below(locationCount(company, account));
  const contacts = contactCount(company, account);
  const contact = contacts === 0 || draw.chance(0.04) ? -1 : Math.floor(draw.next() ** 2 * contacts);
  return { account, location, contact, original };
}

/** Early accounts are the best customers: a few have hundreds of jobs, most have one or two. */
function accountOf(company: Company, n: number, draw: Draw): number {
  const batch = batchOf(company, n);
  const bound = accountsAt(company, batch ?? n);
  let account = Math.floor(draw.next() ** (company.shape.busy ? 1.2 : 2) * bound);
  for (let step = 0; batch !== null && step < 12 && !isCommercial(company, account); step++) account = (account + 1) % bound;
  return survivorOf(account);
}

function originalOf(company: Company, n: number): number | null {
  const draw = drawOf(company, ORIGINALS, n);
  for (let attempt = 0; attempt < 6; attempt++) {
    const candidate = n - Math.ceil(company.size.jobs * (0.01 + 0.05 * draw.next()));
    if (candidate < 0) continue;
    const { jobClass } = typeOf(company, candidate);
    if (jobClass === 'SERVICE' || jobClass === 'MAINTENANCE' || jobClass === 'INSTALL') return candidate;
  }
  return null;
}
