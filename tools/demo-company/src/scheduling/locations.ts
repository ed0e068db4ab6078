import type { Location } from '@truckroll/contract/gen/scheduling/v1/locations';
import type { Company } from '../company.ts';
import { drawOf, idOf } from '../ground.ts';
import { hash, stream } from '../random/keyed.ts';
import { Rota } from '../random/rota.ts';
import { SECOND, dateText } from '../time/instant.ts';
import { accountCreatedAt, accountRef, customerOf, editedAt, isCommercial, survivorOf } from './customers.ts';
import { addressIn, cityOf } from '../words/address.ts';
import { makerOf } from '../shapes/maker.ts';

const make = makerOf<Location>('locations');
const LOCATIONS = stream('locations');
const COUNTS = stream('locations of an account');
const FORMER_OWNERS = new Rota('former owners', [
  [true, 1],
  [false, 11],
]);
const MOST = 8;
/** Day number of 1 January 1890. */
const BUILT_FROM = -29_219;

/** One home, sometimes two; a business has up to five. An account's locations are numbered from 0. */
export function locationCount(company: Company, account: number): number {
  const die = hash(company.seed, COUNTS, account) % 20;
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
    yield make(company, account * MOST + k, {
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
    });
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
  const former = hash(company.seed, COUNTS, account, 1 + k) % company.size.accounts;
  return former === account ? [owner] : [owner, { account: accountRef(company, former), archived: true }];
}
