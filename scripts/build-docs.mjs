// Builds the pages below /docs from gateway/openapi.json, docs/ and gateway/docs, with packages of the gateway. Skipped if no source has
// changed since the last run.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const source = join(root, 'gateway/docs');
const out = join(source, 'gen');
const stamp = join(out, '.stamp');

/** The stamp file that records the last run. */
export const docsStamp = stamp;

export function docsSources() {
  const within = (folder) =>
    readdirSync(folder, { recursive: true })
      .filter((name) => /\.(ts|css|md)$/.test(name) && !name.startsWith('gen'))
      .sort()
      .map((name) => join(folder, name));
  const styles = join(root, 'gateway/console/styles/base.css');
  // The picture of records is drawn from the contract.
  const contract = readdirSync(join(root, 'proto'), { recursive: true })
    .filter((name) => name.endsWith('.proto'))
    .sort()
    .map((name) => join(root, 'proto', name));
  return [
    ...within(source),
    ...within(join(root, 'docs')),
    ...contract,
    styles,
    join(root, 'gateway/openapi.json'),
    join(root, 'pnpm-lock.yaml'),
    import.meta.filename,
  ];
}

export async function buildDocs() {
  const hash = createHash('sha256');
  for (const name of docsSources()) hash.update(name.slice(root.length)).update(readFileSync(name));
  const digest = hash.digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;

  const { build } = createRequire(join(root, 'gateway/package.json'))('esbuild');
  const { buildSite } = await import('../gateway/docs/src/site.ts');
  const { files } = buildSite(root);
  // Built in a separate folder and renamed, so that a gateway that is starting never sees half of it.
  const fresh = `${out}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  await build({
    entryPoints: { docs: join(source, 'browser/main.ts'), 'docs-styles': join(source, 'styles/main.css') },
    outdir: fresh,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'eof',
    logLevel: 'warning',
  });
  renameSync(join(fresh, 'docs-styles.css'), join(fresh, 'docs.css'));
  for (const { name, text } of files) {
    mkdirSync(dirname(join(fresh, name)), { recursive: true });
    writeFileSync(join(fresh, name), text);
  }
  const served = [
    ...files.filter(({ path }) => path !== '').map(({ path, name, type }) => ({ path, name, type })),
    { path: '/docs/docs.js', name: 'docs.js', type: 'text/javascript; charset=utf-8' },
    { path: '/docs/docs.css', name: 'docs.css', type: 'text/css; charset=utf-8' },
  ];
  writeFileSync(join(fresh, 'served.json'), JSON.stringify(served));
  writeFileSync(join(fresh, '.stamp'), digest);
  const former = `${fresh}.former`;
  if (existsSync(out)) renameSync(out, former);
  renameSync(fresh, out);
  rmSync(former, { recursive: true, force: true });
  console.error(`made ${files.length} pages of the documentation`);
}
