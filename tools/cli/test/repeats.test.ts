import { randomUUID } from 'node:crypto';
import type { LineProblem } from '@truckroll/contract/gen/records/v1/records';
import { Repeats } from '../src/import/repeats.ts';

const batch = (firstLine: number, ...lines: string[]) => ({ firstLine, lines: lines.map((line) => Buffer.from(line)), readBytes: 0 });
const answer = (...problems: LineProblem[]) => ({ first_line: 0, lines: 0, created: 0, changed: 0, unchanged: 0, problems });

test('reports an id that is repeated in a later batch at its previous line, in any spelling and every time', () => {
  const repeats = new Repeats();
  const [a, b] = [randomUUID(), randomUUID()];
  expect(repeats.of(batch(1, `{"id":"${a}","number":"1"}`, '', `{"number":"2","id":"${b}"}`), answer())).toEqual([]);
  const said = (before: number, line: number) => ({
    line: before,
    field: 'id',
    code: 'INVALID_FORMAT',
    message: `Line ${line} has the same id and has replaced this one: leave one of them out.`,
  });
  expect(repeats.of(batch(4, `{"id":"${b}"}`, `\uFEFF{ "id" : "${a.toUpperCase()}" }`), answer())).toEqual([said(3, 4), said(1, 5)]);
  expect(repeats.of(batch(6, `{"id":"${b}"}`), answer())).toEqual([said(4, 6)]);
});

test('ignores rejected lines, which replace nothing and are not replaced', () => {
  const repeats = new Repeats();
  const id = randomUUID();
  const refused = (line: number): LineProblem => ({ line, field: '(line)', code: 'INVALID_FORMAT', message: '' });
  expect(repeats.of(batch(1, `{"id":"${id}"}`, '{"id":'), answer(refused(1), refused(2)))).toEqual([]);
  expect(repeats.of(batch(3, `{"id":"${id}"}`), answer())).toEqual([]);
  expect(repeats.of(batch(4, `{"id":"${id}"`), answer(refused(4)))).toEqual([]);
});
