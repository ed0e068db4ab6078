import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { difference, pinnedPnpm } from '../scripts/pnpm.mjs';

// bin/pnpm.mjs of node_modules/pnpm
const brought = join(dirname(pinnedPnpm()), '../../.package-lock.json');
const packages = (JSON.parse(readFileSync(brought, 'utf8')) as { packages: Record<string, { integrity: string }> }).packages;

test('the pnpm that npm installs is the pinned one', () => {
  expect(Object.keys(packages)).toContain('node_modules/pnpm');
  expect(difference(packages)).toBeUndefined();
});

test('rejects a pnpm with other content, or with an additional package, by name', () => {
  const other = { ...packages, 'node_modules/pnpm': { integrity: 'sha512-AAAA' } };
  expect(difference(other)).toMatch(/^pnpm has the digest sha512-AAAA instead of sha512-/);
  expect(difference({ ...packages, 'node_modules/left-pad': { integrity: 'sha512-BBBB' } })).toBe('left-pad has the digest sha512-BBBB instead of none');
  expect(difference({ ...packages, 'node_modules/pnpm': {} })).toMatch(/^pnpm has the digest undefined/);
});
