// Builds @truckroll/client for publishing: `node scripts/build-client.mjs FOLDER [VERSION]` writes a package of JavaScript and types, which
// needs no other package: what verifies webhooks is bundled.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const root = join(import.meta.dirname, '..');
const source = join(root, 'packages/client');
const [folder, asked] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: node scripts/build-client.mjs FOLDER [VERSION]');
const out = resolve(folder);
rmSync(join(out, 'dist'), { recursive: true, force: true });
mkdirSync(out, { recursive: true });

const compiler = join(root, 'node_modules/typescript-7/bin/tsc');
const { status } = spawnSync(process.execPath, [compiler, '-p', source, '--outDir', join(out, 'dist'), '--rootDir', join(source, 'src')], {
  stdio: ['ignore', 2, 2],
});
if (status !== 0) throw new Error('The client could not be compiled, for the reason above.');

const webhooks = join(out, 'dist/webhooks.js');
await createRequire(join(source, 'package.json'))('esbuild').build({
  stdin: { contents: readFileSync(webhooks, 'utf8'), resolveDir: join(source, 'src') },
  outfile: webhooks,
  bundle: true,
  format: 'esm',
  platform: 'neutral',
  mainFields: ['module', 'main'],
  target: 'es2022',
  logLevel: 'warning',
});

// The workspace imports the TypeScript sources; the published package needs its own exports.
const facts = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
for (const own of ['private', 'dependencies', 'devDependencies']) delete facts[own];
const compiled = (file) => {
  const built = file.replace('./src/', './dist/').replace(/\.ts$/, '');
  return { types: `${built}.d.ts`, default: `${built}.js` };
};
const { version } = asked === undefined ? JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) : { version: asked };
const published = {
  ...facts,
  version,
  bin: { 'truckroll-mcp': './dist/mcp.js' },
  exports: Object.fromEntries(Object.entries(facts.exports).map(([path, file]) => [path, compiled(file)])),
  files: ['dist', 'README.md', 'LICENSE'],
};
writeFileSync(join(out, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
for (const name of ['README.md', 'LICENSE']) copyFileSync(join(source, name), join(out, name));
