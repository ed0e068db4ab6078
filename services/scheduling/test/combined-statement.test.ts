import { expression, combine } from '../src/statements/combine.ts';

test('numbers the parameters of all parts in one row, also from $10 on', () => {
  const many = Array.from({ length: 10 }, (_, index) => index);
  const statement = combine(
    'store_all',
    [
      { text: 'a as (select 1)' },
      { text: 'b as (select $1)', values: ['w'] },
      { text: 'many as (select $1, $10)', values: many },
      expression('c', { text: 'select $2, $1, $2', values: ['x', 'y'] }),
      expression('d', { text: 'select 2' }),
      expression('e', { text: 'select $1', values: ['z'] }),
    ],
    'e.id from e',
  );
  expect(statement).toEqual({
    name: 'store_all',
    text: `with a as (select 1),
b as (select $1),
many as (select $2, $11),
c as (select $13, $12, $13),
d as (select 2),
e as (select $14)
select e.id from e`,
    values: ['w', ...many, 'x', 'y', 'z'],
  });
});

test('gives each use of a name its own values', () => {
  const add = (id: number) => combine('add_thing', [expression('thing', { text: 'insert into thing values ($1)', values: [id] })]);
  expect([add(1), add(2)]).toEqual([1, 2].map((id) => ({ name: 'add_thing', text: 'with thing as (insert into thing values ($1))\nselect ', values: [id] })));
});
