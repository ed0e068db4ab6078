import { SECURITY_TXT, securityTxt } from '../src/security-txt.ts';

const NOW = Date.parse('2026-07-04T12:00:00Z');

test('is at the path of RFC 9116', () => {
  expect(SECURITY_TXT).toBe('/.well-known/security.txt');
});

test('names the contact, and its own address if it is known', () => {
  const text = 'Contact: mailto:a@example.com\nExpires: 2026-12-31T00:00:00Z\nPreferred-Languages: en\n';
  expect(securityTxt('mailto:a@example.com', '', NOW)).toBe(text);
  expect(securityTxt('mailto:a@example.com', 'https://api.example.com', NOW)).toBe(`${text}Canonical: https://api.example.com/.well-known/security.txt\n`);
});

test.each([
  ['1970-01-01T00:00:00Z', '1970-06-30T00:00:00Z'],
  ['2026-07-04T00:00:00Z', '2026-12-31T00:00:00Z'],
  ['2026-07-04T23:59:59.999Z', '2026-12-31T00:00:00Z'],
  ['2026-07-05T00:00:00Z', '2027-01-01T00:00:00Z'],
  ['2027-09-03T00:00:00Z', '2028-03-01T00:00:00Z'],
])('requested at %s, is valid for 180 days from the start of that day: until %s', (now, expires) => {
  expect(/^Expires: (.*)$/m.exec(securityTxt('mailto:a@example.com', '', Date.parse(now)))?.[1]).toBe(expires);
});

test('is valid from today if no time is given', () => {
  const expires = (text: string) => Date.parse(/^Expires: (.*)$/m.exec(text)![1]!);
  const before = expires(securityTxt('a', '', Date.now()));
  const found = expires(securityTxt('a', ''));
  expect([before, expires(securityTxt('a', '', Date.now()))]).toContain(found);
});
