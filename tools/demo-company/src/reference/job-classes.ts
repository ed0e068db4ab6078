import type { Enum } from '../enums.ts';

type Row = readonly [id: Enum<'JobClass'>, name: string, group: Enum<'JobClassGroup'>, legacy?: boolean];

/** The same in every company; legacy classes are recorded on old jobs and no longer offered. */
const ROWS: readonly Row[] = [
  ['SERVICE', 'Service', 'SERVICE'],
  ['MAINTENANCE', 'Maintenance', 'SERVICE'],
  ['ESTIMATE_REPAIR', 'Repair estimate', 'SALES'],
  ['ESTIMATE_REPLACE', 'Replacement estimate', 'SALES'],
  ['INSTALL', 'Installation', 'INSTALL'],
  ['WARRANTY', 'Warranty', 'SERVICE'],
  ['CALLBACK', 'Callback', 'SERVICE'],
  ['SALES', 'Sales', 'SALES', true],
  ['UNKNOWN', 'Unknown', 'OTHER', true],
];

export function jobClasses() {
  return ROWS.map(([id, name, group, legacy = false]) => ({ id, name, group, legacy }));
}
