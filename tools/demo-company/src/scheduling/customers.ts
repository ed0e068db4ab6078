import type { Company } from '../company.ts';
import type { Reference } from '../ground.ts';
import { Rota, drawOf, hash, idOf, stream, type Draw } from '../random.ts';
import { DAY, HOUR, MINUTE, SECOND, dateText } from '../time.ts';
import { BUSINESS_FIRST, BUSINESS_KINDS, personOf, type Person } from '../words/people.ts';
import type { Contact, ContactChannelType } from '@truckroll/contract/gen/scheduling/v1/contacts';
import { addressIn, cityOf, phoneIn } from '../words/places.ts';
import { makerOf, type Spelled } from '../shapes/maker.ts';
import type { Location } from '@truckroll/contract/gen/scheduling/v1/locations';
import type { Account } from '@truckroll/contract/gen/scheduling/v1/accounts';
import { pickTags } from '../reference.ts';

const ACCOUNTS = stream('accounts');

const KINDS = new Rota('account kinds', { residential: 4, commercial: 1 });

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

function accountCreatedAt(company: Company, n: number): number {
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

const makeContact = makerOf<Contact>('contacts');
const CONTACTS = stream('contacts');
const NAMES = stream('names of contacts');
const CHANNELS = stream('channels');
const MOST_CONTACTS = 4;
const CONTACT_COUNTS = Rota.ofNumbers('contacts of an account', { 0: 1, 1: 10, 2: 6, 3: 3 });

/** An account's contacts are numbered from 0; the first is the primary one. */
export function contactCount(company: Company, account: number): number {
  return CONTACT_COUNTS.at(company.seed, account);
}

/** Null for a contact without a first and last name: a desk, not a person. */
function contactPerson(company: Company, account: number, k: number): Person | null {
  const { person, building } = customerOf(company, account);
  if (k === 0) return person;
  const draw = drawOf(company, NAMES, account, k);
  return draw.chance(building === null ? 0.1 : 0.3) ? null : personOf(draw);
}

export function contactRef(company: Company, account: number, k: number): Reference {
  return { id: idOf(company, CONTACTS, account, k), name: contactPerson(company, account, k)?.name ?? 'Front desk' };
}

export function* buildContacts(company: Company, account: number) {
  const count = contactCount(company, account);
  if (count === 0) return;
  const owner = accountRef(company, account);
  const ownerCreatedAt = accountCreatedAt(company, account);
  for (let k = 0; k < count; k++) {
    const draw = drawOf(company, CONTACTS, account, k);
    const person = contactPerson(company, account, k);
    const channels = channelsOf(company, account, k, draw, person?.handle ?? 'frontdesk');
    const primary = channels.find(({ is_primary }) => is_primary);
    const createdAt = ownerCreatedAt + k * SECOND;
    yield makeContact(
      { company, n: account * MOST_CONTACTS + k },
      {
        id: idOf(company, CONTACTS, account, k),
        account: owner,
        name: person?.name ?? 'Front desk',
        first_name: person?.first ?? null,
        last_name: person?.last ?? null,
        title: draw.orNull(0.6, draw.pick(['Owner', 'Tenant', 'Facility manager', 'Hausmeister 🔧', 'Spouse'])),
        is_primary: k === 0,
        archived: k > 0 && draw.chance(0.2),
        primary_channel: primary ? { type: primary.type, value: primary.value } : null,
        channels,
        created_at: createdAt,
        updated_at: editedAt(draw, createdAt, company.until),
      },
    );
  }
}

/** At most one channel of each type. A tenth of the contacts have none, and some have no primary channel. */
function channelsOf(company: Company, account: number, k: number, draw: Draw, handle: string) {
  const types: Spelled<ContactChannelType>[] = [];
  if (draw.chance(0.75)) types.push('MOBILE');
  if (draw.chance(0.6)) types.push('EMAIL');
  if (draw.chance(0.25)) types.push('PHONE');
  const primary = draw.chance(0.05) ? -1 : draw.below(types.length);
  const city = cityOf(company, account);
  return types.map((type, position) => ({
    id: idOf(company, CHANNELS, account, k * MOST_CONTACTS + position),
    type,
    value: type === 'EMAIL' ? `${handle}.${account}.${k}@example.org` : phoneIn(city, draw),
    is_primary: position === primary,
    opted_out: draw.chance(0.1),
  }));
}

const makeLocation = makerOf<Location>('locations');
const LOCATIONS = stream('locations');
const LOCATION_COUNTS = stream('locations of an account');
const FORMER_OWNERS = Rota.oneIn(12, 'former owners');
const MOST = 8;
/** Day number of 1 January 1890. */
const BUILT_FROM = -29_219;

/** One home, sometimes two; a business has up to five. An account's locations are numbered from 0. */
export function locationCount(company: Company, account: number): number {
  const die = hash(company.seed, LOCATION_COUNTS, account) % 20;
  return isCommercial(company, account) ? 1 + Math.floor(die / 4) : die < 3 ? 2 : 1;
}

export function locationId(company: Company, account: number, k: number): string {
  return idOf(company, LOCATIONS, account, k);
}

export function* buildLocations(company: Company, account: number) {
  const { building } = customerOf(company, account);
  const city = cityOf(company, account);
  const ownerCreatedAt = accountCreatedAt(company, account);
  for (let k = 0; k < locationCount(company, account); k++) {
    const draw = drawOf(company, LOCATIONS, account, k);
    const address = addressIn(company, city, draw, 16 + account, k);
    const createdAt = ownerCreatedAt + k * SECOND;
    const placed = !draw.chance(0.08);
    const around = (centre: number) => Math.round((centre + (draw.next() - 0.5) * 0.3) * 1e6) / 1e6;
    yield makeLocation(
      { company, n: account * MOST + k },
      {
        id: idOf(company, LOCATIONS, account, k),
        name: building === null ? (k === 0 ? 'Home' : 'Rental') : `${address.line_1}${k === 0 ? '' : ` (${k + 1})`}`,
        address,
        property_type: building ?? draw.pick(['Single family', 'Single family', 'Condo', 'Townhouse', 'Mobile home']),
        municipality: city.name,
        estimated_square_footage: building === null ? draw.between(60, 480) * 10 : draw.between(20, 900) * 100,
        estimated_build_date: draw.orNull(0.25, dateText(BUILT_FROM + draw.below(130 * 365))),
        description: draw.orNull(0.7, draw.pick(['Blue door, ring twice', 'Gate code #4471', 'Entrée par la cour', 'Roof access by ladder\nBring harness'])),
        accounts: ownersOf(company, account, k),
        latitude: placed ? around(city.latitude) : null,
        longitude: placed ? around(city.longitude) : null,
        created_by: draw.pick(company.members.office).ref,
        created_at: createdAt,
        updated_at: editedAt(draw, createdAt, company.until),
      },
    );
  }
}

/** The owner, and the archived owners: a previous owner, or an account that was merged into another. */
function ownersOf(company: Company, account: number, k: number) {
  const owner = { account: accountRef(company, account), archived: false };
  const survivor = survivorOf(account);
  if (survivor !== account) {
    return [
      { account: accountRef(company, survivor), archived: false },
      { ...owner, archived: true },
    ];
  }
  if (!FORMER_OWNERS.at(company.seed, account + k)) return [owner];
  const former = hash(company.seed, LOCATION_COUNTS, account, 1 + k) % company.size.accounts;
  return former === account ? [owner] : [owner, { account: accountRef(company, former), archived: true }];
}

const makeAccount = makerOf<Account>('accounts');
const DETAILS = stream('account details');
const ARCHIVED = Rota.oneIn(15, 'archived accounts');
const REFUSED = Rota.oneIn(20, 'accounts without service');

export function buildAccount(company: Company, n: number) {
  const { name, person, building } = customerOf(company, n);
  const draw = drawOf(company, DETAILS, n);
  const city = cityOf(company, n);
  const commercial = building !== null;
  const createdAt = accountCreatedAt(company, n);
  const survivor = survivorOf(n);
  const merged = survivor !== n;
  const source = draw.pick(company.leadSources).ref;
  return makeAccount(
    { company, n },
    {
      id: accountId(company, n),
      name,
      type: commercial ? 'COMMERCIAL' : 'RESIDENTIAL',
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
      merged_into_id: merged ? accountId(company, survivor) : null,
      created_by: draw.orNull(0.3, draw.pick(company.members.office).ref),
      created_at: createdAt,
      updated_at: editedAt(draw, createdAt, company.until),
    },
  );
}
