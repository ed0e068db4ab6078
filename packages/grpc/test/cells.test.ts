import { readConfig } from '@truckroll/process';
import { cellSetting, otherCellsSetting } from '../src/index.ts';

const WEST = 'west/integrations=a:1, west/scheduling=b:2,west/billing=[2001:db8::1]:3,west/reporting=c:4';
const read = (CELLS: string) => readConfig({ cells: otherCellsSetting('CELLS') }, { CELLS }).cells ?? new Map();

test('cells have the addresses of their four services', () => {
  const east = WEST.replaceAll('west/', 'east-2/');
  expect([...read(`${WEST},${east}`)]).toMatchObject([
    ['west', { integrations: 'a:1', billing: '[2001:db8::1]:3' }],
    ['east-2', { reporting: 'c:4' }],
  ]);
  expect(read('')).toEqual(new Map());
});

test.each(['west', 'west/billing=b:1', `${WEST},west/billing=c:1`, WEST.replaceAll('west', 'West'), WEST.replace('a:1', 'a'), `${WEST},west/gateway=g:1`])(
  '%s is refused',
  (given) => {
    expect(() => read(given)).toThrow(/^CELLS is invalid: it must be a comma-separated list of cell\/service=host:port/);
  },
);

test('a cell has a name that others can write', () => {
  expect(readConfig({ cell: cellSetting('CELL') }, { CELL: 'west-2' }).cell).toBe('west-2');
  expect(() => readConfig({ cell: cellSetting('CELL') }, { CELL: 'a/b' })).toThrow('CELL is invalid');
});
