import type { BusinessUnit } from '@truckroll/contract/gen/scheduling/v1/business_units';
import { drawOf, idOf, type Ground, type Reference } from '../ground.ts';
import { stream } from '../random/keyed.ts';
import { addressIn, phoneIn } from '../words/address.ts';
import type { Given } from '../shapes/given.ts';
import { DAY } from '../time/instant.ts';

const UNITS = stream('business units');

interface Row {
  readonly name: string;
  readonly officialName: string | null;
  readonly email: string | null;
  readonly phone?: boolean;
  readonly address?: boolean;
  readonly archived?: boolean;
}

/** Job types refer to this order. */
const ROWS: readonly Row[] = [
  {
    name: 'HVAC Service',
    officialName: 'Truckroll Demo HVAC Service LLC',
    email: 'hvac@example.com',
    phone: true,
    address: true,
  },
  { name: 'HVAC Install', officialName: 'Truckroll Demo HVAC Service LLC', email: 'install@example.com', phone: true },
  {
    name: 'Plumbing',
    officialName: 'Truckroll Demo Plumbing LLC',
    email: 'plumbing@example.com',
    phone: true,
    address: true,
  },
  { name: 'Electrical', officialName: null, email: 'electrical@example.com' },
  { name: 'Sales', officialName: null, email: null, phone: true },
  { name: 'Old Town Branch', officialName: 'Old Town Heating & Air', email: null, address: true, archived: true },
  { name: 'Wärmepumpen & Geothermal ♨️', officialName: null, email: null, archived: true },
];

export type Unit = ReturnType<typeof buildUnits>[number];

export function buildUnits(ground: Ground) {
  return ROWS.map((row, n) => {
    const draw = drawOf(ground, UNITS, n);
    const city = draw.pick(ground.cities);
    const ref: Reference = { id: idOf(ground, UNITS, n), name: row.name };
    const archivedAt = row.archived ? ground.since + (120 + n) * DAY + 36_000_500_000 : null;
    const given: Given<BusinessUnit> = {
      ...ref,
      official_name: row.officialName,
      email: row.email,
      phone: row.phone ? phoneIn(city, draw) : null,
      address: row.address ? addressIn(ground, city, draw, 0, n, n === 0 ? 'Suite 300' : null) : null,
      archived_at: archivedAt,
      created_at: ground.founded,
      updated_at: archivedAt ?? ground.since + n * DAY,
    };
    return { n, ref, given };
  });
}
