import { firstHeaders } from '../src/first-headers.ts';

const header = (name: string, value: string) => ({ name, value });

test.each([
  [10, [header('a', '1234'), header('b', '1234')], [header('a', '1234'), header('b', '1234')]],
  [9, [header('a', '1234'), header('b', '1234')], [header('a', '1234'), header('b', '123… (cut)')]],
  [9, [header('a', '1234'), header('b', '1234'), header('c', '')], [header('a', '1234'), header('b', '123… (cut)')]],
  [5, [header('a', '1234'), header('b', '1234')], [header('a', '1234'), header('b', '… (cut)')]],
  [5, [header('x'.repeat(65), '1')], [header('x'.repeat(64), '… (cut)')]],
  [5, [], []],
])('within %i characters, shows of %j the headers %j', (most, headers, shown) => {
  expect(firstHeaders(headers, most)).toEqual(shown);
});
