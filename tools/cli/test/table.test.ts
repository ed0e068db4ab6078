import { card, table } from '../src/table.ts';

test('columns line up, numbers to the right, wide characters counted as two', () => {
  const rows = [
    { name: '空調サービス', count: 7 },
    { name: 'Lone 🌟 Star', count: 12_345 },
  ];
  expect(table(rows, { NAME: (row) => row.name, COUNT: (row) => row.count }, '')).toBe(
    ['NAME           COUNT', '空調サービス       7', 'Lone 🌟 Star  12,345'].join('\n'),
  );
});

test('without rows there is a sentence, and nothing in a name reaches the terminal as a command', () => {
  expect(table([], { A: () => 1 }, 'There is none.')).toBe('There is none.');
  expect(card({ name: 'a\u001b[31m\nb\u202e', end: null, active: true })).toBe('name    a\\u001b[31m\\u000ab\\u202e\nend     -\nactive  yes');
});
