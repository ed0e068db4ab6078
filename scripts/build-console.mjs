// Bundles gateway/console into the few files that the gateway serves below /console. Skipped while its sources are as
// they were at the last run. The bundler is a package of the gateway's, so it is looked for there.
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const source = join(root, 'gateway/console');
const out = join(source, 'gen');
const stamp = join(out, '.stamp');

/** What it is made of, and what tells that it was made. */
export const consoleSources = () => [...sourcesOf(), join(root, 'pnpm-lock.yaml'), import.meta.filename];
export const consoleStamp = stamp;

const sourcesOf = () =>
  readdirSync(source, { recursive: true })
    .filter((name) => /\.(tsx?|css|html|svg)$/.test(name) && !name.startsWith('gen'))
    .sort()
    .map((name) => join(source, name));

export async function buildConsole() {
  const hash = createHash('sha256');
  for (const name of consoleSources()) {
    hash.update(name.slice(root.length)).update(readFileSync(name));
  }
  const digest = hash.digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;

  const { build } = createRequire(join(root, 'gateway/package.json'))('esbuild');
  // Made beside and put in place whole, for gateways that are starting meanwhile.
  const fresh = `${out}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  await build({
    entryPoints: { console: join(source, 'src/main.tsx'), 'console-styles': join(source, 'styles/main.css') },
    outdir: fresh,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'eof',
    logLevel: 'warning',
    jsx: 'automatic',
    jsxImportSource: 'preact',
  });
  renameSync(join(fresh, 'console-styles.css'), join(fresh, 'console.css'));
  for (const name of ['index.html', 'icon.svg']) copyFileSync(join(source, name), join(fresh, name));
  writeFileSync(join(fresh, '.stamp'), digest);
  const former = `${fresh}.former`;
  if (existsSync(out)) renameSync(out, former);
  renameSync(fresh, out);
  rmSync(former, { recursive: true, force: true });
  console.error(`bundled the console from ${sourcesOf().length} files`);
}
