// Bundles what `npm start` runs, each program with its packages in one file below node_modules. Otherwise a start spends most of its time
// on finding, reading and stripping the types of four hundred modules. The files that a component reads, such as the contract and
// migrations, are copied with its bundle: what runs stays consistent while the checkout changes. deploy/bundle.mjs makes the bundles for images.
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AS_A_MODULE, components, copyNeeded, placed } from '../deploy/bundle.mjs';
import { isAsNoted, note } from './as-noted.mjs';

const root = join(import.meta.dirname, '..');
const FOLDER = 'node_modules/.cache/bundles';
/** Sources of every bundle: the packages, and how bundles are made. */
const ALWAYS = ['pnpm-lock.yaml', 'scripts/bundles.mjs', 'deploy/bundle.mjs'];

/** Folder of the compile cache that Node keeps for the bundles. */
export const COMPILED = join(root, 'node_modules/.cache/compiled');

/** Main module by component of the system. They share most of their modules, so these are bundled together and compiled once. */
export const SYSTEM = Object.fromEntries(['gateway', ...readdirSync(join(root, 'services'))].map((name) => [name, components[name]]));
/** The programs that start the system: npm start and its benchmarks. */
const SUPERVISOR = Object.fromEntries(['tools/local-stack/src/start-main', 'loadtest/start/start-main'].map((name) => [name, `${name}.ts`]));

/** The bundle of a program that starts the system; undefined if there is none or its modules have changed. */
export function bundleOf(program) {
  const [name] = Object.entries(SUPERVISOR).find(([, entry]) => entry === program) ?? [];
  return name !== undefined && isAsNoted(nameOf('supervisor')) ? outputOf('supervisor', name) : undefined;
}

/** Bundles the system if its modules have changed. Resolves to the bundles' paths by component. Rejects if a module has an error. */
export async function bundleSystem() {
  if (!isAsNoted(nameOf('system'))) {
    const needed = new Map();
    await bundle('system', SYSTEM, placed(needed), needed);
    // Its entries belong to the old bundles, under names that are no longer used.
    rmSync(COMPILED, { recursive: true, force: true });
  }
  return new Map(Object.keys(SYSTEM).map((name) => [name, outputOf('system', name)]));
}

/** Bundles the programs that start the system, for the next start. */
export async function bundleSupervisor() {
  if (!isAsNoted(nameOf('supervisor'))) await bundle('supervisor', SUPERVISOR, WHERE_THEY_STAND, new Map());
}

const nameOf = (group) => `bundles of ${group}`;
const outputOf = (group, name) => join(root, FOLDER, group, `${name}.mjs`);

async function bundle(group, entryPoints, plugin, needed) {
  const { build, stop } = esbuild();
  const folder = join(root, FOLDER, group);
  // Built in a separate folder and renamed, so that another start never sees half of it.
  const fresh = `${folder}.${process.pid}`;
  const beganAt = Date.now();
  const { metafile } = await build({ ...OPTIONS, entryPoints, outdir: fresh, plugins: [...AS_A_MODULE.plugins, plugin] }).finally(() => stop());
  copyNeeded(needed, fresh);
  const former = `${fresh}.former`;
  if (existsSync(folder)) renameSync(folder, former);
  renameSync(fresh, folder);
  rmSync(former, { recursive: true, force: true });
  const sources = [...ALWAYS, ...modulesOf(metafile), ...[...needed.values()].flatMap(withContents).map((path) => relative(root, path))];
  note(nameOf(group), { sources, made: Object.keys(entryPoints).map((name) => relative(root, outputOf(group, name))), beganAt });
}

/**
 * Bundles one program again and again, with source maps and without packages. Each build is renamed to a new folder, because the process of the last one reads its
 * own until it is stopped. `build` rejects if a module has an error.
 */
export async function rebundler(program, folder) {
  rmSync(folder, { recursive: true, force: true });
  const fresh = join(folder, 'fresh');
  const needed = new Map();
  const context = await esbuild().context({
    ...OPTIONS,
    entryPoints: { main: program },
    outdir: fresh,
    sourcemap: 'linked',
    sourcesContent: false,
    plugins: [...AS_A_MODULE.plugins, WITHOUT_PACKAGES, placed(needed)],
  });
  let builds = 0;
  async function build() {
    const { metafile } = await context.rebuild();
    copyNeeded(needed, fresh);
    builds += 1;
    const out = join(folder, String(builds));
    renameSync(fresh, out);
    rmSync(join(folder, String(builds - 2)), { recursive: true, force: true });
    const modules = modulesOf(metafile).filter((name) => !name.includes('node_modules/'));
    return { script: join(out, 'main.mjs'), sources: [...modules.map((name) => resolve(root, name)), ...needed.values()] };
  }
  return { build, dispose: () => context.dispose() };
}

const OPTIONS = { ...AS_A_MODULE, logLevel: 'silent', absWorkingDir: root, metafile: true, legalComments: 'none' };

/** A dependency of the gateway. Loaded when needed: run.mjs imports this module before packages are installed. */
function esbuild() {
  return createRequire(join(root, 'gateway/package.json'))('esbuild');
}

/** The names of modules that a plugin created contain a colon. */
function modulesOf(metafile) {
  return Object.keys(metafile.inputs).filter((name) => !name.includes(':'));
}

/** A file, or a folder and everything in it. */
function withContents(path) {
  return statSync(path).isDirectory() ? [path, ...readdirSync(path, { recursive: true }).map((name) => join(path, name))] : [path];
}

/** Imports packages, our own excepted, from where they are installed: bundling them takes most of the time of a build. */
const WITHOUT_PACKAGES = {
  name: 'without packages',
  setup({ onResolve, resolve: find }) {
    const found = new Map();
    onResolve({ filter: /^[^./]/ }, async ({ path, kind, resolveDir, importer, pluginData }) => {
      if (pluginData === WITHOUT_PACKAGES || kind === 'entry-point' || /^(node:|@truckroll\/)/.test(path)) return undefined;
      const key = [resolveDir, path, kind].join(' ');
      if (!found.has(key)) found.set(key, await find(path, { kind, resolveDir, importer, pluginData: WITHOUT_PACKAGES }));
      const { path: module, errors } = found.get(key);
      if (errors.length > 0 || !module.includes('/node_modules/')) return undefined;
      // An import takes a URL, in which # and ? have a meaning.
      return { path: kind === 'require-call' ? module : pathToFileURL(module).href, external: true };
    });
  },
};

/** Replaces import.meta and __dirname with the module's path in the checkout, so that it finds its files there. */
const WHERE_THEY_STAND = {
  name: 'where they stand',
  setup({ onResolve, onLoad }) {
    // This module contains the words that are replaced, and loads esbuild, which cannot be bundled.
    onResolve({ filter: /\/scripts\/bundles\.mjs$/ }, () => ({ path: import.meta.url, external: true }));
    const place = (places, path, loader) => {
      const source = readFileSync(path, 'utf8');
      const contents = Object.entries(places).reduce((text, [name, value]) => text.replaceAll(name, JSON.stringify(value)), source);
      return contents === source ? undefined : { contents, loader };
    };
    onLoad({ filter: /\bnode_modules\b.*\.js$/ }, ({ path }) => place({ __dirname: dirname(path) }, path, 'js'));
    onLoad({ filter: /\.(ts|mjs)$/ }, ({ path }) =>
      place(
        { 'import.meta.url': pathToFileURL(path).href, 'import.meta.dirname': dirname(path), 'import.meta.filename': path },
        path,
        path.endsWith('.ts') ? 'ts' : 'js',
      ),
    );
  },
};
