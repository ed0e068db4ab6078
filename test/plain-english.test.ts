import { phrasesIn, textsOf, wordsIn } from '../tools/plain-english.mjs';

test.each([
  ['a.ts', '  // Poll interval in ms.', ['Poll interval in ms.']],
  ['a.ts', '   * Poll interval in ms.', ['Poll interval in ms.']],
  ['a.ts', '  /** Poll interval in ms. */', ['Poll interval in ms.']],
  ['a.ts', 'const POLL_MS = 5; // ms', ['ms']],
  ['a.ts', "  test('releases the lock', async () => {", ['releases the lock']],
  ['a.ts', "test.each([1, 2])('accepts %i', () => {", ['accepts %i']],
  ['a.ts', "const url = 'https://example.test // no comment';", []],
  ['a.sql', 'id uuid, -- of the record', ['of the record']],
  ['a.yaml', '# Replicas.', ['Replicas.']],
  ['a.md', '- **Slots** are leased.', ['Slots** are leased.']],
])('finds in %s the comments, test names and prose of %j', (path, line, texts) => {
  expect([...textsOf(path, line)]).toEqual(texts);
});

test.each([
  'Whoever waits is told.',
  'How often it may fail.',
  'Of those that wait: the first.',
  'Nobody asks while the server stands still.',
  'All endpoints but for one.',
])('flags the phrase %j', (text) => {
  expect(phrasesIn(text)).not.toEqual([]);
});

test('flags no plain sentence', () => {
  expect(phrasesIn('Maximum time in ms that a queued request waits.')).toEqual([]);
  expect(phrasesIn('It tells you which request failed.')).toEqual([]);
});

test.each([
  ['const lentTo = 1;', ['lent']],
  ['const PATIENCE_MS = 1;', ['PATIENCE']],
  ['this.#tellNews(session)', ['tell']],
  ["name: 'spare_and_parked_rows'", ['parked']],
  ['// An event that was set aside.', ['set aside']],
  ["log.info('the gateways have not been told')", ['told']],
])('finds replaced words of the glossary in %j', (line, words) => {
  expect(wordsIn(line).map(({ word }) => word)).toEqual(words);
});

test.each([
  'const silent = excellent.trimEnd();',
  'select id from parked_event',
  'We will tell you who comes.',
  'rpc SetAside(SetAsideRequest) returns (SetAsideResponse);',
  'amend({ recommended: listParkedEvents() })',
])('finds none in %j', (line) => {
  expect(wordsIn(line)).toEqual([]);
});
