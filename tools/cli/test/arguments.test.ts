import { positiveInteger } from '@truckroll/integrator-cli/terminal/arguments';
import { BEYOND, now } from '@truckroll/contract';
import { Command } from 'commander';
import { durationOption, expiry, limitOrDefault, moment, onOff, seconds, seedNumber } from '../src/arguments.ts';

const refused = /^Give /;

test.each<[string, (text: string) => unknown, readonly (readonly [text: string, value: unknown])[], readonly string[]]>([
  [
    'a whole number',
    positiveInteger,
    [
      ['1', 1],
      ['2147483647', 2_147_483_647],
    ],
    ['0', '-1', '2147483648', '1.5', '', '1e3'],
  ],
  [
    'a limit',
    limitOrDefault,
    [
      ['default', 0],
      ['1', 1],
    ],
    ['0', 'none'],
  ],
  [
    'a seed',
    seedNumber,
    [
      ['0', 0],
      ['4294967295', 4_294_967_295],
    ],
    ['4294967296', '-1', ''],
  ],
  [
    'a choice',
    onOff,
    [
      ['on', true],
      ['off', false],
    ],
    ['ON', ''],
  ],
  [
    'a duration',
    seconds,
    [
      ['0s', 0],
      ['30m', 1800],
      ['8h', 28_800],
      ['90d', 7_776_000],
    ],
    ['90', '1.5h', '12345678s', '8H', ''],
  ],
  [
    'a moment',
    moment,
    [
      ['2027-01-31', 1_801_353_600_000_000],
      ['2027-01-31T00:00:00+01:00', 1_801_350_000_000_000],
    ],
    ['2027-02-29', 'tomorrow', '90', ''],
  ],
])('reads %s, and refuses other texts', (_, read, accepted, others) => {
  expect(accepted.map(([text]) => read(text))).toEqual(accepted.map(([, value]) => value));
  for (const text of others) expect(() => read(text)).toThrow(refused);
});

test('shows the default of a duration as it can be given', () => {
  const command = new Command().addOption(durationOption('--wait <duration>', 'how long', '8h'));
  expect([command.opts(), command.helpInformation()]).toEqual([{ wait: 28_800 }, expect.stringContaining('how long (default: 8h)')]);
});

test('reads a duration as a moment from now on, and an expiry beyond the range of instants as none', () => {
  const before = now();
  const at = moment('90d');
  expect(at).toBeGreaterThanOrEqual(before + 90 * 86_400_000_000);
  expect(at).toBeLessThanOrEqual(now() + 90 * 86_400_000_000);
  expect([expiry('2027-01-31'), expiry('9999-12-31'), expiry('9999-12-31T00:00:00Z')]).toEqual([1_801_353_600_000_000, null, null]);
  expect(BEYOND.after).toBeLessThan(Date.parse('9999-12-31') * 1000);
});
