// Builds the integrators' command line for publishing: `node scripts/build-cli.mjs FOLDER [VERSION]` writes a package that needs no other one. Each
// command is a separate module, so that it loads no other.
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const root = join(import.meta.dirname, '..');
const source = join(root, 'packages/cli');
const [folder, asked] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: node scripts/build-cli.mjs FOLDER [VERSION]');
const out = resolve(folder);
rmSync(join(out, 'dist'), { recursive: true, force: true });
mkdirSync(out, { recursive: true });

const { metafile } = await createRequire(join(source, 'package.json'))('esbuild').build({
  entryPoints: { truckroll: join(source, 'src/main.ts') },
  outdir: join(out, 'dist'),
  absWorkingDir: root,
  bundle: true,
  splitting: true,
  minify: true,
  metafile: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  legalComments: 'none',
  logLevel: 'warning',
});

const facts = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
for (const own of ['private', 'exports', 'dependencies', 'devDependencies']) delete facts[own];
const { version } = asked === undefined ? JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) : { version: asked };
const published = { ...facts, name: '@truckroll/cli', version, bin: { truckroll: './dist/truckroll.js' }, files: ['dist', 'README.md', 'LICENSE'] };
writeFileSync(join(out, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
copyFileSync(join(source, 'README.md'), join(out, 'README.md'));
writeFileSync(join(out, 'LICENSE'), [readFileSync(join(source, 'LICENSE'), 'utf8'), ...bundledLicences()].join('\n---\n\n'));

/** The licences of the packages in the bundle, each under its name. */
function bundledLicences() {
  const included = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs).filter((path) => inputs[path].bytesInOutput > 0));
  const folders = included.map((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  return [...new Set(folders.filter((each) => each !== undefined))].sort().map((each) => {
    const file = readdirSync(join(root, each)).find((name) => /^licen[cs]e/i.test(name));
    if (file === undefined) throw new Error(`${each} is part of the command line and has no licence`);
    return `dist has ${each.replace(/^.*node_modules\//, '')}:\n\n${readFileSync(join(root, each, file), 'utf8')}`;
  });
}
