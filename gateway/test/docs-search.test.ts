import { join } from 'node:path';
import { indexOf, type Entry } from '../docs/browser/index.ts';
import { buildSite } from '../docs/src/site.ts';

const { files } = buildSite(join(import.meta.dirname, '../..'));
const index = indexOf(JSON.parse(files.find(({ name }) => name === 'search.json')!.text) as Entry[]);

test.each([
  ['unpaid', /receivables/],
  ['hmac', /^docs\/verify/],
  ['sdk', /client/],
  ['incremental', /^docs\/sync/],
  ['sandbox', /^docs\/start/],
  ['oauth', /^docs\/sign-in/],
  // Words of a long section's end, of a part of a name, and of a page for operators.
  ['slow disk memory warm', /^docs\/runbook/],
  ['since', /^docs\/sync/],
  ['runbook', /^docs\/runbook$/],
])('finds %s', (asked, expected) => {
  expect(index.find(asked).map(({ id }) => id)).toContainEqual(expect.stringMatching(expected));
});
