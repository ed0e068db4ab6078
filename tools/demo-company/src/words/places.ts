import type { City, Ground } from '../ground.ts';
import { hash, idOf, stream, type Draw } from '../random.ts';

const city = (name: string, state: string, postal: string, latitude: number, longitude: number, areaCode: string): City => {
  return { name, state, postal, latitude, longitude, areaCode };
};

const CENTRAL = [
  city('Austin', 'TX', '787', 30.2672, -97.7431, '512'),
  city('Round Rock', 'TX', '786', 30.5083, -97.6789, '737'),
  city('Dallas', 'TX', '752', 32.7767, -96.797, '214'),
  city('Tulsa', 'OK', '741', 36.154, -95.9928, '918'),
  city('New Braunfels', 'TX', '781', 29.703, -98.1245, '830'),
];

const EASTERN = [
  city('Columbus', 'OH', '432', 39.9612, -82.9988, '614'),
  city('Pittsburgh', 'PA', '152', 40.4406, -79.9959, '412'),
  city('Charlotte', 'NC', '282', 35.2271, -80.8431, '704'),
  city('Albany', 'NY', '122', 42.6526, -73.7562, '518'),
  city('Boston', 'MA', '021', 42.3601, -71.0589, '617'),
];

const MOUNTAIN = [
  city('Denver', 'CO', '802', 39.7392, -104.9903, '303'),
  city('Boulder', 'CO', '803', 40.015, -105.2705, '720'),
  city('Santa Fe', 'NM', '875', 35.687, -105.9378, '505'),
  city('Salt Lake City', 'UT', '841', 40.7608, -111.891, '801'),
  city('Phoenix', 'AZ', '850', 33.4484, -112.074, '602'),
];

const PACIFIC = [
  city('Sacramento', 'CA', '958', 38.5816, -121.4944, '916'),
  city('San José', 'CA', '951', 37.3382, -121.8863, '408'),
  city('Portland', 'OR', '972', 45.5152, -122.6784, '503'),
  city('Seattle', 'WA', '981', 47.6062, -122.3321, '206'),
  city('Reno', 'NV', '895', 39.5296, -119.8138, '775'),
];

const BY_ZONE: Readonly<Record<string, readonly City[]>> = {
  'America/New_York': EASTERN,
  'America/Detroit': EASTERN,
  'America/Denver': MOUNTAIN,
  'America/Phoenix': MOUNTAIN,
  'America/Los_Angeles': PACIFIC,
};

export function citiesOf(timezone: string): readonly City[] {
  return BY_ZONE[timezone] ?? CENTRAL;
}

const STREETS = (
  'Maple Ave|Oak St|2nd Ave|Cedar Ln|Pine St|Washington Blvd|Lake Dr|Hillcrest Rd|Elm St|County Road 12|Sunset Ter|Park Pl|Church St|' +
  'Mill Creek Way|Jefferson Ave|Heron Ct|Ridge Rd|Camino Niño|St. Mary’s Pkwy|Ranch Road 620'
).split('|');

const SECOND_LINES = ['Apt 2B', 'Unit 14', 'Suite 300', 'Bldg C', '# 5', 'c/o Front desk'] as const;

const ADDRESSES = stream('addresses');
const CITIES = stream('cities of accounts');

export function cityOf({ seed, cities }: Ground, account: number): City {
  return cities[hash(seed, CITIES, account) % cities.length] as City;
}

/** An address in the city; `a` and `b` identify its owner among all addresses. */
export function addressIn(ground: Ground, city: City, draw: Draw, a: number, b: number, line2 = draw.orNull(0.8, draw.pick(SECOND_LINES))) {
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
