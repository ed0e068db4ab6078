import type { Draw } from '../random.ts';

/** Names of people. The last rows of each list are deliberately awkward: accents, other scripts and directions, quotes, emoji. */

const FIRST_NAMES = (
  'James Mary Robert Patricia Michael Linda David Elizabeth William Barbara Richard Susan Thomas Jessica Charles Karen Daniel Nancy Matthew ' +
  'Lisa Anthony Betty Mark Sandra Steven Ashley Andrew Emily Kenneth Donna Joshua Michelle Kevin Carol Brian Amanda Maria Luis Guadalupe Priya ' +
  'Minh Aisha Terrence Keisha Wei Olga José Zoë Renée Łukasz Søren Siobhán D’Andre Anne-Marie'
).split(' ');

const LAST_NAMES = (
  'Smith|Johnson|Williams|Brown|Jones|Garcia|Miller|Davis|Rodriguez|Martinez|Hernandez|Lopez|Wilson|Anderson|Thomas|Taylor|Moore|Jackson|Martin|' +
  'Lee|Perez|Thompson|White|Harris|Sanchez|Clark|Ramirez|Lewis|Robinson|Walker|Young|Allen|King|Wright|Nguyen|Hill|Flores|Green|Adams|Nelson|' +
  "Baker|Patel|Kim|Okafor|Kowalski|Núñez|O’Brien|D'Angelo|Müller|Çelik|Ångström|van der Berg|Smith-Jones|Nguyễn"
).split('|');

/** Given name, family name, and the whole name where it is not the two in this order. */
const OTHER_SCRIPTS = '小明 王 王小明|さくら 田中 田中_さくら|민수 김 김민수|محمد الأحمد|יעל כהן|Дмитрий Соколов|Jose\u0301 Pen\u0303a|🐝_Bea Honeycutt'
  .split('|')
  .map((row) => row.split(' ').map((name) => name.replace('_', ' ')));

export const BUSINESS_FIRST = (
  'Lakeside|Northgate|Blue Heron|Cedar Hill|Main Street|Riverbend|Summit|Oak & Iron|Pioneer|Sunrise|Granite|Harbor|Twin Pines|Old Mill|Redbud|' +
  'Prairie|Juniper|Stonebridge|Café Olé ☕|老北京|São Paulo|Señor Taco|"The Corner"|100% Pure|Fjord & Sons|בית קפה'
).split('|');

/** What a business is, and the kind of its building. */
export const BUSINESS_KINDS = (
  'Dental: Office; Property Management LLC: Apartment building; Grill: Restaurant; Elementary School: School; Warehouse Co.: Warehouse; ' +
  'Fitness: Retail; Church: Place of worship; Veterinary Clinic: Office; Self Storage, Inc.: Warehouse; Market: Retail'
)
  .split('; ')
  .map((row) => row.split(': ') as [kind: string, building: string]);

/** Lowercase ASCII for the local part of an e-mail address; empty when no ASCII letters remain. */
const asciiHandle = (name: string) =>
  name
    .normalize('NFD')
    .toLowerCase()
    .replace(/ł/g, 'l')
    .replace(/ø/g, 'o')
    .replace(/[^a-z]/g, '');

const FIRST_HANDLES: readonly string[] = FIRST_NAMES.map(asciiHandle);
const LAST_HANDLES: readonly string[] = LAST_NAMES.map(asciiHandle);

/** `handle` is ASCII, for e-mail addresses. */
export type Person = Readonly<Record<'first' | 'last' | 'name' | 'handle', string>>;

export function personOf(draw: Draw, otherScript = draw.chance(0.04)): Person {
  const first = draw.below(FIRST_NAMES.length);
  const last = draw.below(LAST_NAMES.length);
  const handle = `${FIRST_HANDLES[first]}.${LAST_HANDLES[last]}`;
  if (otherScript) {
    const [given = '', family = '', name = `${given} ${family}`] = draw.pick(OTHER_SCRIPTS);
    return { first: given, last: family, name, handle };
  }
  const given = FIRST_NAMES[first] as string;
  const family = LAST_NAMES[last] as string;
  return { first: given, last: family, name: `${given} ${family}`, handle };
}
