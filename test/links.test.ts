// Links between the Markdown files of the repository lead to files and headings that exist.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { ROOT } from '@truckroll/local-stack';

const listed = spawnSync('git', ['ls-files', '-z', '*.md', '*.md.gotmpl'], { cwd: ROOT, encoding: 'utf8' }).stdout;
const files = listed.split('\0').filter((file) => file !== '' && existsSync(join(ROOT, file)));

function prose(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8').replace(/^ *```[^]*?^ *```$/gm, '');
}

/** The anchor that GitHub gives a heading. */
function anchor(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
}

function broken(file: string): string[] {
  return [...prose(file).matchAll(/\]\((?!https?:|mailto:|\/)([^)\s]+)\)/g)].flatMap(([, link = '']) => {
    const [path = '', fragment] = link.split('#');
    const target = path === '' ? file : posix.join(posix.dirname(file), path);
    if (!existsSync(join(ROOT, target))) return [`${file} links to ${link}: no such file`];
    const headings =
      fragment === undefined || !target.endsWith('.md') ? [] : [...prose(target).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchor(heading));
    return fragment === undefined || !target.endsWith('.md') || headings.includes(fragment) ? [] : [`${file} links to ${link}: no such heading`];
  });
}

test('every link between documents leads to a file and a heading that exist', () => {
  expect(files).toContain('docs/how-to/runbook.md');
  expect(files.flatMap(broken)).toEqual([]);
});

const named = (file: string): string[] => [...prose(file).matchAll(/`([\w./-]+\.(?:ts|mjs|sql))`/g)].map(([, name = '']) => name);

test('the files that decision records name exist', () => {
  const all = spawnSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).stdout.split('\n');
  const missing = files
    .filter((file) => file.startsWith('docs/adr/'))
    .flatMap((file) => named(file).filter((name) => !all.some((each) => `/${each}`.endsWith(`/${name}`))));
  expect(missing).toEqual([]);
});

test.each([
  ['docs/README.md', /^docs\/(?!adr\/|releases\/|README)/],
  ['docs/adr/README.md', /^docs\/adr\/\d/],
])('%s lists every page', (index, pages) => {
  const linked = [...prose(index).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => posix.join(posix.dirname(index), link));
  expect(files.filter((file) => pages.test(file) && !linked.includes(file))).toEqual([]);
});

test('decisions.md has an index of the sections that it contains, each once', () => {
  const text = prose('docs/decisions.md');
  const listed = [...text.matchAll(/^\| §(\d+) \|/gm)].map(([, number]) => Number(number));
  expect(listed).toEqual(Array.from({ length: 21 }, (_, at) => at + 1));
  for (const number of listed) expect([number, new RegExp(`^(### |\\*\\*)§${number}\\b`, 'm').test(text)]).toEqual([number, true]);
});
