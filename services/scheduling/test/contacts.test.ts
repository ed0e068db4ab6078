import { ContactChannelType } from '@truckroll/contract/gen/scheduling/v1/contacts';
import { checkContact, sameChannel } from '../src/contacts/channels.ts';

const { EMAIL, MOBILE, PHONE } = ContactChannelType;
type Given = Parameters<typeof checkContact>[0];
type Channel = Given['channels'][number];
const channel = (type: Channel['type'], value: string): Channel => ({ id: value, type, value, is_primary: false, opted_out: false });

test.each([
  [channel(EMAIL, 'Ana@Example.com'), channel(EMAIL, 'ana@example.COM'), true],
  [channel(EMAIL, 'ana@example.com'), channel(EMAIL, 'ana@example.org'), false],
  [channel(MOBILE, '+13125550100'), channel(PHONE, '+13125550100'), false],
])('takes %j and %j for the same channel: %p', (a, b, same) => {
  expect(sameChannel(a, b)).toBe(same);
});

const problems = (given: Partial<Given>) => checkContact({ channels: [], primary_channel: null, ...given }).map(({ field, code }) => `${field} ${code}`);

test('accepts e-mail addresses and phone numbers, and a primary channel that is one of them', () => {
  const channels = [channel(EMAIL, 'ana@example.com'), channel(MOBILE, '+13125550100'), channel(PHONE, '+13125550101')];
  expect(problems({ channels })).toEqual([]);
  for (const { type, value } of channels) expect(problems({ channels, primary_channel: { type, value } })).toEqual([]);
});

test('names each channel whose value does not match its type', () => {
  const channels = [channel(EMAIL, '+13125550100'), channel(PHONE, '+13125550100'), channel(MOBILE, 'ana@example.com')];
  expect(problems({ channels })).toEqual(['channels[0].value INVALID_FORMAT', 'channels[2].value INVALID_FORMAT']);
});

test('refuses a primary channel that is not among the channels', () => {
  const channels = [channel(PHONE, '+13125550100'), channel(PHONE, '+13125550102')];
  for (const [type, value] of [
    [PHONE, '+13125550101'],
    [MOBILE, '+13125550100'],
  ] as const) {
    expect(problems({ channels, primary_channel: { type, value } })).toEqual(['primary_channel INVALID_FORMAT']);
  }
  expect(problems({ primary_channel: { type: PHONE, value: '+13125550100' } })).toEqual(['primary_channel INVALID_FORMAT']);
});
