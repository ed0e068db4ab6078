// Mechanical steps of a release (CONTRIBUTING.md, "When you cut a release"). `prepare VERSION` sets the version of the checkout and notes;
// `record VERSION [COMMIT]` lists the commit, HEAD by default, as that release, and stores its contract.
import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const NOTES = 'docs/releases/unreleased.md';
const RELEASES = 'releases.json';

function prepare(version) {
  const before = releases().at(-1).version;
  if (!/^\d+\.\d+\.\d+$/.test(version) || !isLater(version, before)) throw new Error(`${version} is no version after ${before}, the last release.`);
  const current = JSON.parse(read('package.json')).version;
  if (current !== before) throw new Error(`package.json says ${current}, which ${RELEASES} does not list: record that release first.`);
  const date = new Date().toISOString().slice(0, 10);
  const notes = read(NOTES);
  const [, body] = /\n(## To do before upgrading\n[^]*)$/.exec(notes) ?? [];
  if (body === undefined) throw new Error(`${NOTES} has no chapter "To do before upgrading".`);
  write(
    `docs/releases/${version}.md`,
    `# ${version}\n\n${date} · for those who run Truckroll: what this release needs beyond the usual order of [Upgrade](../how-to/upgrade.md).\n` +
      `[The changelog](../changelog.md) is for those who integrate.\n\n${body}`,
  );
  write(NOTES, notes.slice(0, -body.length).replace(`after ${before} needs`, `after ${version} needs`) + '## To do before upgrading\n\nNothing.\n');
  change('docs/changelog.md', (text) => {
    const [intro, ...chapters] = text.split(/^(?=## )/m);
    const last = chapters.findIndex((chapter) => chapter.startsWith(`## ${before}\n`));
    const news = chapters.slice(0, last).map((chapter) => `#${chapter}`);
    return [intro, `## ${version}\n\n${date}.\n\n`, ...news, ...chapters.slice(last)].join('');
  });
  for (const path of ['package.json', 'gateway/src/openapi/document.ts', 'deploy/helm/truckroll/Chart.yaml']) {
    change(path, (text) =>
      text.replaceAll(new RegExp(`^( *["']?(?:version|appVersion|x-release)["']?: ['"]?)${before.replaceAll('.', '\\.')}\\b`, 'gm'), `$1${version}`),
    );
  }
  console.log('Write what the notes and the changelog still lack, run `npm run openapi && npm run check:chart -- --write`, and land all of it.');
}

function record(version, revision = 'HEAD') {
  if (JSON.parse(read('package.json')).version !== version) throw new Error(`package.json does not say ${version}: prepare that release first.`);
  const commit = run('git', 'rev-parse', `${revision}^{commit}`).trim();
  const release = { version, date: run('git', 'show', '--no-patch', '--format=%cs', commit).trim(), commit };
  write(RELEASES, `${JSON.stringify([...releases(), release], null, 2)}\n`);
  run('node_modules/.bin/buf', 'build', 'proto', '--exclude-source-info', '-o', 'proto/released.binpb');
  copyFileSync(join(root, 'gateway/openapi.json'), join(root, 'proto/released.openapi.json'));
  // Its first two lines explain the file.
  write('proto/announced.txt', `${read('proto/announced.txt').split('\n').slice(0, 2).join('\n')}\n`);
}

function isLater(version, than) {
  const [numbers, others] = [version, than].map((each) => each.split('.').map(Number));
  const first = numbers.findIndex((number, index) => number !== others[index]);
  return first >= 0 && numbers[first] > others[first];
}

function releases() {
  return JSON.parse(read(RELEASES));
}

function read(path) {
  return readFileSync(join(root, path), 'utf8');
}

function write(path, text) {
  writeFileSync(join(root, path), text);
}

function change(path, make) {
  const before = read(path);
  const after = make(before);
  if (after === before) throw new Error(`${path} has nothing to change: it is not as this program expects it.`);
  write(path, after);
}

function run(command, ...args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${error?.message ?? stderr}`);
  return stdout;
}

try {
  const [step, ...args] = process.argv.slice(2);
  const work = { prepare, record }[step];
  if (work === undefined || args.length === 0) throw new Error('usage: node scripts/release.mjs prepare VERSION | record VERSION [COMMIT]');
  work(...args);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
