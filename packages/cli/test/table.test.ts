import { card, table } from '../src/terminal/table.ts';
import { counted } from '../src/terminal/progress.ts';

test('aligns columns, with numbers on the right and wide characters counted as two', () => {
  const rows = [
    { name: '空調サービス', count: 7 },
    { name: 'Lone 🌟 Star', count: 12_345 },
  ];
  expect(table(rows, { NAME: (row) => row.name, COUNT: (row) => row.count }, '')).toBe(
    ['NAME           COUNT', '空調サービス       7', 'Lone 🌟 Star  12,345'].join('\n'),
  );
});

test('aligns numbers on the right if some rows have none, and leaves a column with a text on the left', () => {
  const rows = [
    { count: 12_345, mixed: 5 },
    { count: null, mixed: 'all' },
  ];
  expect(table(rows, { COUNT: (row) => row.count, MIXED: (row) => row.mixed }, '').split('\n')).toEqual([' COUNT  MIXED', '12,345  5', '     -  all']);
});

test('prints a sentence if there are no rows, and escapes control characters in names', () => {
  expect(table([], { A: () => 1 }, 'There is none.')).toBe('There is none.');
  expect(card({ name: 'a\u001b[31m\nb\u202e', end: null, active: true })).toBe('name    a\\u001b[31m\\u000ab\\u202e\nend     -\nactive  yes');
});

test('prints every decimal of a number', () => {
  expect(card({ latitude: 30.2747, margin: 0.4456, total: 12_345.5 })).toBe('latitude  30.2747\nmargin    0.4456\ntotal     12,345.5');
});

test.each([
  [0, '0 changes'],
  [1, '1 change'],
  [1200, '1,200 changes'],
])('counts %i as %s', (count, text) => {
  expect(counted(count, 'change')).toBe(text);
});
