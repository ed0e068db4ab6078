import { hiding } from '../src/send/hide.ts';

const KEY = 'k/3y "öf" +a?&=%';
const hide = (values: string[], text: string, isCut = false): string => (hiding(values)?.bytes(Buffer.from(text), isCut) ?? Buffer.from(text)).toString();

test.each([
  ['as it is', KEY],
  ['in JSON', JSON.stringify(KEY).slice(1, -1)],
  ['in JSON with escaped slashes', JSON.stringify(KEY).slice(1, -1).replaceAll('/', '\\/')],
  ['in a URL', encodeURIComponent(KEY)],
  ['in a form', encodeURIComponent(KEY).replaceAll('%20', '+')],
  ['in a URL with lower-case digits', encodeURIComponent(KEY).replace(/%../g, (code) => code.toLowerCase())],
  ['in Base64', Buffer.from(KEY).toString('base64').replace(/=+$/, '')],
  ['in Base64 for URLs', Buffer.from(KEY).toString('base64url')],
  ['in hexadecimal digits', Buffer.from(KEY).toString('hex')],
  ['in upper-case hexadecimal digits', Buffer.from(KEY).toString('hex').toUpperCase()],
  ['in upper case', KEY.replace(/[a-z]/g, (letter) => letter.toUpperCase())],
])('hides a value %s, every time', (_, form) => {
  expect(hide([KEY], `<${form}> and <${form}>`)).toBe('<(hidden)> and <(hidden)>');
});

test.each([
  ['Bearer abcdef', 'token=abcdef', 'token=(hidden)'],
  [`Basic ${btoa('pat:hunter2')}`, 'pat:hunter2', '(hidden)'],
  [`Basic ${btoa('pat:hunter2')}`, 'password hunter2', 'password (hidden)'],
  [`Basic ${btoa('pat:hunter2')}`, btoa('pat:hunter2'), '(hidden)'],
])('hides what follows the scheme in %s', (value, answer, hidden) => {
  expect(hide([value], answer)).toBe(hidden);
});

test.each(['', 'a', 'ab', 'abc', 'pat:'])('shows no more than two characters of the Base64 of a text that begins with %j and has the value', (before) => {
  for (const after of ['', 'z', 'zz', 'zzz']) {
    for (const encoding of ['base64', 'base64url'] as const) {
      const [whole, begin] = [before + KEY + after, before].map((text) => Buffer.from(text).toString(encoding).replace(/=+$/, ''));
      const [left = '', right = ''] = hide([KEY], whole!).split('(hidden)');
      expect([left.length - begin!.length <= 0, right.length <= Math.ceil((after.length * 8) / 6) + 1]).toEqual([true, true]);
    }
  }
});

test('hides the longest of several values, and none of fewer than four characters', () => {
  expect(hide(['abcd', 'abcdef'], 'abcdef abcd')).toBe('(hidden) (hidden)');
  expect(hiding(['yes', '1'])).toBeUndefined();
});

test.each([
  ['abcdefgh', true, 'so far abcdefg', 'so far (hidden)'],
  ['abcdefgh', true, 'so far abcd', 'so far (hidden)'],
  ['abcdefgh', true, 'so far abc', 'so far abc'],
  ['abcdefgh', true, 'so far abcdefgh', 'so far (hidden)'],
  ['abcdefgh', false, 'so far abcdefg', 'so far abcdefg'],
  ['ababab-ababab', true, 'abab', '(hidden)'],
])('hides the beginning of %s at the end of a text that was cut (%s): %s', (value, isCut, answer, hidden) => {
  expect(hide([value], answer, isCut)).toBe(hidden);
});
