import { readSheet } from 'read-excel-file/node';
import { workbook } from '../../gateway/console/src/xlsx/xlsx.ts';

const MOST = 32_767;

/** The facts and the rows of a sheet with one text, as a spreadsheet reads them. */
async function saved(text: string, fact = 'Ours') {
  const sheet = { name: 'Names', facts: [['Company', fact]] as const, columns: [{ title: 'Name', kind: 'text' }] as const, rows: [[text]], total: undefined };
  const file = await workbook([sheet]);
  return await readSheet(Buffer.from(await file.arrayBuffer()), 'Names');
}

const NOTE = ['Note', 'Texts longer than 32,767 characters, the most that a cell holds, are cut and end in […]'];

test.each(['Ana', 'x'.repeat(MOST), '=1+1', 'a\u2028b', '<b>&amp;"\r\n 😀'])('a sheet has a text that a cell holds as it is, %#', async (text) => {
  const rows = await saved(text);
  expect(rows[0]).toEqual(['Company', 'Ours']);
  expect(rows).not.toContainEqual(NOTE);
  expect(rows.at(-1)).toEqual([text, null]);
});

test.each([
  ['x'.repeat(MOST + 1), `${'x'.repeat(MOST - 3)}[…]`],
  ['x'.repeat(1_000_000), `${'x'.repeat(MOST - 3)}[…]`],
  [`${'x'.repeat(MOST - 4)}😀${'x'.repeat(9)}`, `${'x'.repeat(MOST - 4)}[…]`],
])('a text that no cell holds is cut between characters with a mark, and the sheet says so, %#', async (text, cut) => {
  const rows = await saved(text);
  expect(rows[1]).toEqual(NOTE);
  expect(rows.at(-1)).toEqual([cut, null]);
  expect((await saved('Ana', text)).slice(0, 2)).toEqual([['Company', cut], NOTE]);
});

test('has money in dollars, days as dates, and leaves out what XML cannot have', async () => {
  const kinds = ['text', 'date', 'money', 'count', 'share'] as const;
  const columns = Array.from({ length: 28 }, (_, index) => ({ title: `Column ${index}`, kind: kinds[index % kinds.length]! }));
  const values = { text: 'a\u0000\ud800b', date: '2024-02-29', money: -123_405, count: 1_000_000, share: 0.125 };
  const row = columns.map(({ kind }) => values[kind]);
  const file = await workbook([{ name: 'A & B', facts: [], columns, rows: [row, row.map(() => null)], total: row }]);
  const rows = await readSheet(Buffer.from(await file.arrayBuffer()), 'A & B');
  const read = { text: 'ab', date: new Date('2024-02-29T00:00:00Z'), money: -1234.05, count: 1_000_000, share: 0.125 };
  const expected = columns.map(({ kind }) => read[kind]);
  expect(rows.slice(-4)).toEqual([columns.map(({ title }) => title), expected, columns.map(() => null), expected]);
});
