import { nextLink } from '../src/routes/next-link.ts';

const URL = 'https://api.example.com/v1/reports/collections';

test.each([
  ['', 'cursor=next'],
  ['cursor=first', 'cursor=next'],
  ['limit=5', 'limit=5&cursor=next'],
  ['method=CASH&cursor=first&method=CARD', 'method=CASH&method=CARD&cursor=next'],
  ['a=1&a=1', 'a=1&a=1&cursor=next'],
  ['cursors=1&Cursor=2', 'cursors=1&Cursor=2&cursor=next'],
  ['a=x+y%26z%3D', 'a=x+y%26z%3D&cursor=next'],
  ['a=>;"', 'a=%3E%3B%22&cursor=next'],
  ['flag', 'flag=&cursor=next'],
])('links the page ?%s to ?%s', (query, next) => {
  expect(nextLink(URL, query, 'next')).toBe(`<${URL}?${next}>; rel="next"`);
});

test('is relative to the request where the public address is unknown', () => {
  expect(nextLink('', 'limit=5', 'next')).toBe('<?limit=5&cursor=next>; rel="next"');
});

test('encodes the cursor', () => {
  expect(nextLink(URL, '', 'a+b/c=')).toBe(`<${URL}?cursor=a%2Bb%2Fc%3D>; rel="next"`);
});
