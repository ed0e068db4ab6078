import type { Ground } from './ground.ts';
import { idOf, stream } from './random.ts';

/** The company's items, by trade. Prices are per unit in cents; each quantity is one of those listed. */
export interface Item {
  readonly name: string;
  readonly description: string;
  readonly unitCents: number;
  readonly taxable: boolean;
  readonly discountable: boolean;
  readonly quantities: readonly number[];
  readonly cost: 'labor' | 'parts' | 'equipment';
}

const ONE = [1];
const FEW = [1, 1, 2, 3];
const HOURS = [0.5, 1, 1.25, 1.5, 2, 2.75];

/** What kinds of items have in common: the default description and quantities, and whether they are taxable and discountable. */
const kindOf =
  (cost: Item['cost'], usualText: string, usual: readonly number[], taxable: boolean, discountable: boolean) =>
  (name: string, unitCents: number, description = usualText, quantities = usual): Item => ({
    name,
    unitCents,
    description,
    taxable,
    discountable,
    quantities,
    cost,
  });

const labor = kindOf('labor', 'Per hour, quarter hours counted', HOURS, false, true);
const part = kindOf('parts', '', FEW, true, true);
const fee = kindOf('labor', '', ONE, false, false);
const unit = kindOf('equipment', '', ONE, true, true);

const PRICEBOOK = {
  cooling: [
    fee('Diagnostic fee', 8_900),
    labor('HVAC labor', 14_500),
    part('Dual run capacitor 45/5 µF', 21_999),
    part('Contactor, 40 A', 18_450),
    part('Refrigerant R-410A, lb', 9_875, 'Recovered and weighed', [1, 2.5, 3.75, 5]),
    part('Condenser fan motor ⅙ hp', 48_700, '', ONE),
    part('Filter 16×25×1"', 1_895, 'MERV 8', [1, 2, 4]),
  ],
  heating: [
    fee('Diagnostic fee', 8_900),
    labor('HVAC labor', 14_500),
    part('Hot surface ignitor', 26_500, '', ONE),
    part('Flame sensor', 13_999, '', ONE),
    part('Inducer motor', 61_233, '', ONE),
    part('Thermostat, Wi-Fi', 24_900, '', [1, 2]),
    part('Carbon monoxide alarm', 5_999, 'Battery, 10 years'),
  ],
  maintenance: [
    fee('Tune-up', 12_900),
    part('Filter 20×20×4"', 4_495, 'MERV 11', [1, 2]),
    labor('Coil cleaning', 9_900),
    part('Condensate tablets', 799, '', [1, 2, 3, 12]),
    fee('Membership visit (included)', 0),
  ],
  plumbing: [
    fee('Trip charge', 5_900),
    labor('Plumber', 13_250),
    part('Ball valve ¾"', 3_850),
    part('PEX pipe, ft', 329, '', [12, 18.5, 40]),
    part('Kitchen faucet', 28_900, 'Customer’s choice of finish', ONE),
    part('Wax ring & bolts', 1_899),
    part('Sump pump ⅓ hp', 38_500, '', ONE),
  ],
  electrical: [
    fee('Service call', 7_900),
    labor('Electrician', 12_500),
    part('GFCI outlet', 4_299, '', [1, 2, 6]),
    part('20 A breaker', 2_895),
    part('Whole-house surge protector', 31_900, '', ONE),
    part('LED wafer light 6"', 3_450, '', [4, 6, 8]),
  ],
  install: [
    unit('Heat pump 3 ton, 16 SEER2', 689_000, 'Outdoor unit, line set and pad'),
    unit('Gas furnace 80 kBTU, 96 %', 389_000, 'With PVC vent'),
    unit('Air handler, variable speed', 274_999, ''),
    unit('Water heater 50 gal', 148_900, 'Gas, 40,000 BTU'),
    labor('Installation crew', 19_500),
    fee('Permit', 18_500),
    part('Ductwork, ft', 3_175, 'Insulated R-8', [10, 24, 37.5]),
    part('Smart thermostat', 27_900, '', [1, 2]),
  ],
} as const satisfies Record<string, readonly Item[]>;

export type Trade = keyof typeof PRICEBOOK;

export function itemsOf(trade: Trade): readonly Item[] {
  return PRICEBOOK[trade];
}

const ITEMS = stream('pricebook items');
const TRADES = Object.keys(PRICEBOOK);

export function pricebookItemId(ground: Ground, trade: Trade, item: number): string {
  return idOf(ground, ITEMS, TRADES.indexOf(trade), item);
}
