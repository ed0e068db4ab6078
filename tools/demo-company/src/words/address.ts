import { idOf, type Ground } from '../ground.ts';
import { hash, stream, type Draw } from '../random/keyed.ts';
import { SECOND_LINES, STREETS, type City } from './places.ts';

export interface Address {
  id: string;
  formatted: string;
  line_1: string;
  line_2: string | null;
  city: string;
  state: string;
  postal_code: string;
}

const ADDRESSES = stream('addresses');
const CITIES = stream('cities of accounts');

export function cityOf({ seed, cities }: Ground, account: number): City {
  return cities[hash(seed, CITIES, account) % cities.length] as City;
}

/** An address in the city; `a` and `b` identify its owner among all addresses. */
export function addressIn(ground: Ground, city: City, draw: Draw, a: number, b: number, line2 = draw.orNull(0.8, draw.pick(SECOND_LINES))): Address {
  const line1 = `${draw.between(1, 9_899)} ${draw.pick(STREETS)}`;
  const postal = `${city.postal}${String(draw.between(1, 60)).padStart(2, '0')}`;
  return {
    id: idOf(ground, ADDRESSES, a, b),
    formatted: `${line1}${line2 === null ? '' : `, ${line2}`}, ${city.name}, ${city.state} ${postal}`,
    line_1: line1,
    line_2: line2,
    city: city.name,
    state: city.state,
    postal_code: postal,
  };
}

/** A telephone number in E.164, from the hundred per area code that are reserved for fiction. */
export function phoneIn(city: City, draw: Draw): string {
  return `+1${city.areaCode}55501${String(draw.below(100)).padStart(2, '0')}`;
}
