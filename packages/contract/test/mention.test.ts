import { mentionOf } from '../src/index.ts';

const mentions = mentionOf(['Núñez-Lee, Ann', 'ann@example.com', '+15125550177', '+442079460959', '田中太郎', '…']);

test.each([
  'to NUNEZ Lee ann, at noon',
  'write to Ann@Example.com.',
  'call +1 (512) 555-0177',
  'call 512.555.01 77, then',
  'number:5550177',
  '0512 5550177',
  'Apt 4 512-555-0177',
  '2026-11-20 512-555-0177, 2026-11-21',
  '+1 512 555 0178, +44 (0)20 7946 0958, +44 (0)20 7946 0959',
  '担当は田中太郎です',
])('finds a name, an address or a number in %j', (text) => {
  expect(mentions(text)).toBe(true);
});

test.each([
  'Ann Núñez Lee',
  'Nunez-Leeann',
  'ann at example.com',
  'joann@example.com',
  '512-555-0178',
  '550177',
  '15125550177123',
  '555 0177123',
  '田中次郎',
  '',
  '…',
])('finds none in %j', (text) => {
  expect(mentions(text)).toBe(false);
});

test('a number is the same with its link and its extension', () => {
  const mentions = mentionOf(['tel:+15125550188;ext=12', '512-555-0199 x7']);
  expect(['call 512 555 0188', 'call 512 555 0199', '512 555 0177 x12'].map(mentions)).toEqual([true, true, false]);
});
