// Builds @truckroll/client for publishing: `node scripts/build-client.mjs FOLDER` writes a package of JavaScript and types.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = join(import.meta.dirname, '..');
const source = join(root, 'packages/client');
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: node scripts/build-client.mjs FOLDER');
const out = resolve(folder);
rmSync(join(out, 'dist'), { recursive: true, force: true });
mkdirSync(out, { recursive: true });

const compiler = join(root, 'node_modules/typescript-7/bin/tsc');
const { status } = spawnSync(process.execPath, [compiler, '-p', source, '--outDir', join(out, 'dist'), '--rootDir', join(source, 'src')], {
  stdio: ['ignore', 2, 2],
});
if (status !== 0) throw new Error('The client could not be compiled, for the reason above.');

// The workspace imports the TypeScript sources; the published package needs its own exports and explicit versions.
const { dependencies, ...facts } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
for (const own of ['private', 'devDependencies']) delete facts[own];
const shared = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8');
const versionOf = (name, asked) => (asked === 'catalog:' ? new RegExp(`^ {2}"?${name}"?: (.+)$`, 'm').exec(shared)[1] : asked);
const compiled = (file) => {
  const built = file.replace('./src/', './dist/').replace(/\.ts$/, '');
  return { types: `${built}.d.ts`, default: `${built}.js` };
};
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const published = {
  ...facts,
  version,
  exports: Object.fromEntries(Object.entries(facts.exports).map(([path, file]) => [path, compiled(file)])),
  files: ['dist', 'README.md', 'LICENSE'],
  dependencies: Object.fromEntries(Object.entries(dependencies).map(([name, asked]) => [name, versionOf(name, asked)])),
};
writeFileSync(join(out, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
for (const name of ['README.md', 'LICENSE']) copyFileSync(join(source, name), join(out, name));
