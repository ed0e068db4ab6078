import { splitQuery } from '../src/routes/query-text.ts';

test.each<[string, [string, string | undefined][]]>([
  ['', []],
  ['&', []],
  [
    '&&a=1&&&b=2&',
    [
      ['a', '1'],
      ['b', '2'],
    ],
  ],
  ['status=OPEN', [['status', 'OPEN']]],
  ['status', [['status', '']]],
  ['status=', [['status', '']]],
  ['=OPEN', [['', 'OPEN']]],
  ['=', [['', '']]],
  ['a=b=c', [['a', 'b=c']]],
  ['a==', [['a', '=']]],
  [
    'a&b=1',
    [
      ['a', ''],
      ['b', '1'],
    ],
  ],
  [
    'b=1&a=2&b=1',
    [
      ['b', '1'],
      ['a', '2'],
      ['b', '1'],
    ],
  ],
  ['a=1;b=2', [['a', '1;b=2']]],
  ['a=x+y+z', [['a', 'x y z']]],
  ['a+b=1', [['a b', '1']]],
  ['a=%2B+%2b', [['a', '+ +']]],
  ['a=1%262%3D3', [['a', '1&2=3']]],
  ['%61%3D=1', [['a=', '1']]],
  ['a=%C3%A9', [['a', 'é']]],
  ['a=é', [['a', 'é']]],
  ['a=?', [['a', '?']]],
])('splits %j into the pairs %j', (text, pairs) => {
  expect(splitQuery(text)).toEqual(pairs.map(([name, value]) => ({ name, value })));
});

test.each<[string, [string, string | undefined][]]>([
  [
    'a=%&b=1',
    [
      ['a', undefined],
      ['b', '1'],
    ],
  ],
  ['a=%4', [['a', undefined]]],
  ['a=%GG', [['a', undefined]]],
  ['a=+%FF', [['a', undefined]]],
  ['%FF+=1', [['%FF+', undefined]]],
  ['%FF', [['%FF', undefined]]],
])('splits %j into the pairs %j: invalid encoding leaves a value undefined and a name undecoded', (text, pairs) => {
  expect(splitQuery(text)).toEqual(pairs.map(([name, value]) => ({ name, value })));
});
