import { createClient } from '../src/index.ts';

const asked: string[] = [];
const fetch = async (url: string): Promise<Response> => (asked.push(url), Response.json({ data: {} }));

test.each([
  ['https://api.example.com', ''],
  ['https://api.example.com/', ''],
  [' https://api.example.com//\n', ''],
  ['https://api.example.com/v1', ''],
  ['https://api.example.com/v1/', ''],
  ['https://api.example.com/api/v1', ''],
  ['https://api.example.com/fsm', '/fsm'],
  ['https://api.example.com/fsm/v1/', '/fsm'],
])('takes %j as the address of the API', async (baseUrl, prefix) => {
  await createClient({ baseUrl, token: 'trk_x', fetch }).get('/v1/company');
  expect(asked.pop()).toBe(`https://api.example.com${prefix}/v1/company`);
});

test.each([
  undefined,
  '',
  'api.example.com',
  'localhost:8080',
  'ftp://api.example.com',
  'https://',
  'https://api.example.com/?v=1',
  'https://api.example.com#v1',
])('refuses %j as the address, and says what to give', (baseUrl) => {
  expect(() => createClient({ baseUrl: baseUrl as string, token: 'trk_x' })).toThrow(
    `createClient needs the API's address as baseUrl, such as https://api.example.com, without a query: got ${baseUrl}.`,
  );
});

test('names a missing address or token', () => {
  expect(() => createClient({} as never)).toThrow(/^createClient needs the API's address as baseUrl/);
  expect(() => createClient({ baseUrl: 'https://api.example.com' } as never)).toThrow(
    'createClient needs a token: an API key, or a function that returns one.',
  );
  expect(() => createClient({ baseUrl: 'https://api.example.com', token: '' })).toThrow(TypeError);
});

test.each(['trk_…', 'trk_a\nb', 'trk_a b'])('refuses the token %j without showing it', async (token) => {
  const refused = await createClient({ baseUrl: 'http://127.0.0.1:9', token })
    .get('/v1/company')
    .catch((error: Error) => error);
  const { message } = refused as Error;
  expect(message).toMatch(/^The token has characters/);
  expect(message).not.toContain(token);
});
