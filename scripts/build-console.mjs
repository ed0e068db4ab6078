// Bundles gateway/console, with the gateway's bundler, into the files served below /console. Skipped if no source has changed since the
// last run.
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const source = join(root, 'gateway/console');
const out = join(source, 'gen');
const stamp = join(out, '.stamp');

const description = join(root, 'gateway/openapi.json');

/** The sources, and the stamp file that records the last run. */
export const consoleSources = () => [...sourcesOf(), description, join(root, 'pnpm-lock.yaml'), import.meta.filename];
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
  // Built in a separate folder and renamed, so that a gateway that is starting never sees half of it.
  const fresh = `${out}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  const { metafile } = await build({
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
    // What is imported by import() becomes a separate file, named after its module, and so does what these files share.
    splitting: true,
    chunkNames: '[name]-[hash]',
    loader: { '.woff2': 'file' },
    assetNames: '[name]-[hash]',
    metafile: true,
    // JSON in a string: esbuild would put an object into a separate file.
    define: { FILTER_PATHS: JSON.stringify(JSON.stringify(filterPaths())) },
  });
  renameSync(join(fresh, 'console-styles.css'), join(fresh, 'console.css'));
  copyFileSync(join(source, 'icon.svg'), join(fresh, 'icon.svg'));
  copyFileSync(join(source, '../node_modules/@fontsource-variable/inter/LICENSE'), join(fresh, 'inter-license.txt'));
  const font = readdirSync(fresh).find((name) => name.startsWith('inter-latin-wght'));
  const html = readFileSync(join(source, 'index.html'), 'utf8');
  const preloaded = [
    `<link rel="preload" href="console/${font}" as="font" type="font/woff2" crossorigin>`,
    ...firstParts(metafile).map((name) => `<link rel="modulepreload" href="console/${name}">`),
  ];
  writeFileSync(join(fresh, 'index.html'), html.replace('<!-- preload -->', preloaded.join('\n')));
  writeFileSync(join(fresh, '.stamp'), digest);
  const former = `${fresh}.former`;
  if (existsSync(out)) renameSync(out, former);
  renameSync(fresh, out);
  rmSync(former, { recursive: true, force: true });
  console.error(`bundled the console from ${sourcesOf().length} files`);
}

/** Files without which console.js does not begin. */
function firstParts({ outputs }) {
  const of = (name) => Object.entries(outputs).find(([path]) => path.endsWith(`/${name}`))[1];
  const wanted = new Set();
  const add = (name) =>
    of(name)
      .imports.filter(({ kind }) => kind === 'import-statement')
      .map(({ path }) => basename(path))
      .filter((each) => !wanted.has(each))
      .forEach((each) => add(wanted.add(each) && each));
  add('console.js');
  return [...wanted].sort();
}

/** By event type, the kinds of value at each path of its data (gateway/console/src/filter/paths.ts). */
function filterPaths() {
  const { schemas } = JSON.parse(readFileSync(description, 'utf8')).components;
  const resolve = (schema) => {
    const [given] = (schema.anyOf ?? [schema]).filter(({ type }) => type !== 'null');
    return given.$ref === undefined ? given : resolve(schemas[given.$ref.split('/').at(-1)]);
  };
  const pathsOf = (record, above) =>
    Object.entries(record.properties ?? {}).flatMap(([name, schema]) => {
      const value = resolve(schema);
      const each = value.type === 'array' ? resolve(value.items) : value;
      return [[above + name, kindOf(each, above + name)], ...pathsOf(each, `${above}${name}.`)];
    });
  const events = Object.values(schemas).filter(({ properties }) => schemas.EventType.enum.includes(properties?.type?.const));
  return Object.fromEntries(events.map(({ properties: { type, data } }) => [type.const, Object.fromEntries(pathsOf(resolve(data), ''))]));
}

const KINDS = { 'string date-time': 'time', 'string uuid': 'uuid', 'string ': 'text', 'integer ': 'number', 'number ': 'number', 'object ': 'object' };

/** The values of an enum, or one word. */
function kindOf({ type, format = '', enum: values }, path) {
  const kind = values ?? KINDS[`${[type].flat().find((each) => each !== 'null')} ${format}`];
  if (kind === undefined) throw new Error(`The console's filters have no kind for ${path}: add one to build-console.mjs and filter/paths.ts.`);
  return kind;
}
