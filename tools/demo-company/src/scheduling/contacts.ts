import type { Contact, ContactChannelType } from '@truckroll/contract/gen/scheduling/v1/contacts';
import type { Company } from '../company.ts';
import { drawOf, idOf, type Reference } from '../ground.ts';
import { stream, type Draw } from '../random/keyed.ts';
import { Rota } from '../random/rota.ts';
import { SECOND } from '../time/instant.ts';
import { accountCreatedAt, accountRef, customerOf, editedAt } from './customers.ts';
import { cityOf, phoneIn } from '../words/address.ts';
import { personOf, type Person } from '../words/person.ts';
import type { Spelled } from '../shapes/given.ts';
import { makerOf } from '../shapes/maker.ts';

const make = makerOf<Contact>('contacts');
const CONTACTS = stream('contacts');
const NAMES = stream('names of contacts');
const CHANNELS = stream('channels');
const MOST = 4;
const COUNTS = new Rota('contacts of an account', [
  [0, 1],
  [1, 10],
  [2, 6],
  [3, 3],
]);

/** An account's contacts are numbered from 0; the first is the primary one. */
export function contactCount(company: Company, account: number): number {
  return COUNTS.at(company.seed, account);
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
    yield make(company, account * MOST + k, {
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
    });
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
    id: idOf(company, CHANNELS, account, k * MOST + position),
    type,
    value: type === 'EMAIL' ? `${handle}.${account}.${k}@example.org` : phoneIn(city, draw),
    is_primary: position === primary,
    opted_out: draw.chance(0.1),
  }));
}
