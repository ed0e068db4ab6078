import { isUuid } from '../src/uuid.ts';

test.each(['0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e', '0B8F3C1E-7A52-4C6D-9E10-2F4A5B6C7D8E', '00000000-0000-0000-0000-000000000000'])('accepts %s', (text) => {
  expect(isUuid(text)).toBe(true);
});

test.each([
  ['nothing', ''],
  ['text before it', 'x0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e'],
  ['text after it', '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8ex'],
  ['a line break after it', '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e\n'],
  ['braces', '{0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e}'],
  ['no hyphens', '0b8f3c1e7a524c6d9e102f4a5b6c7d8e'],
  ['a letter after f', '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8g'],
  ['a first group that is too short', 'b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e'],
  ['a middle group that is too short', '0b8f3c1e-7a52-4c6-9e10-2f4a5b6c7d8e'],
  ['a group that is missing', '0b8f3c1e-7a52-4c6d-2f4a5b6c7d8e'],
  ['a group too many', '0b8f3c1e-7a52-4c6d-9e10-4c6d-2f4a5b6c7d8e'],
  ['a last group that is too short', '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8'],
])('rejects %s', (_, text) => {
  expect(isUuid(text)).toBe(false);
});
