import { checkKeyExpiry, checkRecoveryRange } from '../src/command-rules.ts';

const NOW = 1_800_000_000_000_000;

describe('the end of a new API key', () => {
  it.each([
    ['none', undefined],
    ['null', null],
    ['a microsecond from now', NOW + 1],
  ])('may be %s', (_, expiresAt) => {
    expect(checkKeyExpiry(expiresAt, NOW)).toEqual([]);
  });

  it.each([
    ['now', NOW],
    ['past', NOW - 1],
  ])('must not be %s', (_, expiresAt) => {
    expect(checkKeyExpiry(expiresAt, NOW)).toMatchObject([{ field: 'expiresAt', code: 'OUT_OF_RANGE', message: expect.stringContaining('future') }]);
  });
});

describe('the range of a recovery', () => {
  it.each([
    ['a past time', { since: NOW - 1 }],
    ['a past time without an end', { since: NOW - 1, until: null }],
    ['a past time to a later one', { since: NOW - 2, until: NOW - 1 }],
    ['a past time to a future one', { since: NOW - 1, until: NOW + 1 }],
  ])('may go from %s', (_, range) => {
    expect(checkRecoveryRange(range, NOW)).toEqual([]);
  });

  it.each([
    ['now', { since: NOW }],
    ['a future time', { since: NOW + 1, until: null }],
  ])('must not begin at %s', (_, range) => {
    expect(checkRecoveryRange(range, NOW)).toMatchObject([{ field: 'since', code: 'OUT_OF_RANGE', message: expect.stringContaining('past') }]);
  });

  it.each([
    ['where it begins', { since: NOW - 1, until: NOW - 1 }],
    ['before it begins', { since: NOW - 1, until: NOW - 2 }],
  ])('must not end %s', (_, range) => {
    expect(checkRecoveryRange(range, NOW)).toMatchObject([{ field: 'until', code: 'RANGE_ORDER', message: expect.stringContaining('later than since') }]);
  });
});
