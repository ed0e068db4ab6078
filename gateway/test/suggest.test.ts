import { closest } from '../src/routes/suggest.ts';

const KNOWN = ['id', 'status', 'created_from', 'created_before'];

test.each([
  ['Status', 'status'],
  ['createdFrom', 'created_from'],
  ['ids[]', 'id'],
  ['ix', 'id'],
  ['staus', 'status'],
  ['stauts', 'status'],
  ['creaetd_befor', 'created_before'],
])('takes %s for %s', (name, meant) => {
  expect(closest(name, KNOWN)).toBe(meant);
});

test.each(['offset', 'xy', 'stoop'])('takes %s for nothing known', (name) => {
  expect(closest(name, KNOWN)).toBeUndefined();
});

test('takes the first of several that are equally close', () => {
  expect(closest('statu', ['status', 'statue'])).toBe('status');
});

test('takes the closest, wherever it stands', () => {
  expect(closest('created_for', ['created_of', 'created_form'])).toBe('created_form');
  expect(closest('created_form', ['created_from', 'created_before'])).toBe('created_from');
});

test('suggests nothing for a name of more than 32 characters', () => {
  expect(closest(`status${'_'.repeat(26)}`, KNOWN)).toBe('status');
  expect(closest(`status${'_'.repeat(27)}`, KNOWN)).toBeUndefined();
});
