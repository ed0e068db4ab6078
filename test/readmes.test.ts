import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from '@truckroll/local-stack';

const packages = globSync(['{packages,services,tools}/*/package.json', '{gateway,loadtest,test}/package.json'], { cwd: ROOT }).map(dirname).toSorted();

test('finds the packages of the workspace', () => {
  const listed = readFileSync(join(ROOT, 'pnpm-workspace.yaml'), 'utf8').split('\n\n')[0];
  expect(listed).toBe(['packages:', ...['packages/*', 'tools/*', 'services/*', 'gateway', 'loadtest', 'test'].map((place) => `  - ${place}`)].join('\n'));
});

test.each(packages)('%s has a README that says how its tests are run, and whose links lead somewhere', (folder) => {
  const file = join(ROOT, folder, 'README.md');
  expect(existsSync(file) ? 'README.md' : 'no README.md').toBe('README.md');
  const text = readFileSync(file, 'utf8');
  expect(text).toMatch(/^# \S/);
  expect(text).toMatch(/`npm test -- [\w./-]+`/);
  const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link]) => link as string);
  expect(links.filter((link) => !existsSync(join(dirname(file), link)))).toEqual([]);
});
