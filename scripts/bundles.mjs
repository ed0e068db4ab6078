// Bundles what `npm start` runs, each program with its packages in one file below node_modules. Otherwise a start spends most of its time
// on finding, reading and stripping the types of four hundred modules. Files that modules read relative to themselves are still read from
// the checkout. deploy/bundle.mjs makes the bundles for images.
import { existsSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AS_A_MODULE } from '../deploy/bundle.mjs';
import { isAsNoted, note } from './as-noted.mjs';

const root = join(import.meta.dirname, '..');
const FOLDER = 'node_modules/.cache/bundles';
/** Sources of every bundle: the packages, and how bundles are made. */
const ALWAYS = ['pnpm-lock.yaml', 'scripts/bundles.mjs', 'deploy/bundle.mjs'];

/** Folder of the compile cache that Node keeps for the bundles. */
export const COMPILED = join(root, 'node_modules/.cache/compiled');

/** The programs of one system. They share most of their modules, so these are bundled together and compiled once. */
const SYSTEM = [...readdirSync(join(root, 'services')).map((name) => `services/${name}/src/main.ts`), 'gateway/src/main.ts'];
/** The programs that start the system: npm start and its benchmarks. */
const SUPERVISOR = ['tools/local-stack/src/start-main.ts', 'loadtest/idle/start-main.ts'];

/** The bundle of a program such as `services/billing/src/main.ts`; undefined if there is none or its modules have changed. */
export function bundleOf(program) {
  const group = [SYSTEM, SUPERVISOR].find((programs) => programs.includes(program));
  return group !== undefined && isAsNoted(nameOf(group)) ? join(root, placeOf(program)) : undefined;
}

/** Bundles the system's programs if their modules have changed. Resolves to the bundles' paths by program. Rejects if a module has an error. */
export async function bundleSystem() {
  if (!isAsNoted(nameOf(SYSTEM))) {
    await bundle(SYSTEM);
    // Its entries belong to the old bundles, under names that are no longer used.
    rmSync(COMPILED, { recursive: true, force: true });
  }
  return new Map(SYSTEM.map((program) => [program, join(root, placeOf(program))]));
}

/** The same for the programs that start the system; the next start uses them. */
export async function bundleSupervisor() {
  if (!isAsNoted(nameOf(SUPERVISOR))) await bundle(SUPERVISOR);
}

async function bundle(programs) {
  const { build, stop } = createRequire(join(root, 'gateway/package.json'))('esbuild');
  const folder = join(root, folderOf(programs));
  // Built in a separate folder and renamed, so that another start never sees half of it.
  const fresh = `${folder}.${process.pid}`;
  const beganAt = Date.now();
  const { metafile } = await build({
    ...AS_A_MODULE,
    logLevel: 'silent',
    absWorkingDir: root,
    entryPoints: programs.map((program) => ({ in: program, out: program.replace(/\.ts$/, '') })),
    outdir: fresh,
    metafile: true,
    legalComments: 'none',
    plugins: [...AS_A_MODULE.plugins, WHERE_THEY_STAND],
  }).finally(() => stop());
  const former = `${fresh}.former`;
  if (existsSync(folder)) renameSync(folder, former);
  renameSync(fresh, folder);
  rmSync(former, { recursive: true, force: true });
  // The names of modules that a plugin created contain a colon.
  const modules = Object.keys(metafile.inputs).filter((name) => !name.includes(':'));
  note(nameOf(programs), { sources: [...ALWAYS, ...modules], made: programs.map(placeOf), beganAt });
}

const nameOf = (programs) => `bundles of ${programs[0]}`;
const folderOf = (programs) => `${FOLDER}/${programs === SYSTEM ? 'system' : 'supervisor'}`;
const placeOf = (program) => `${folderOf(SYSTEM.includes(program) ? SYSTEM : SUPERVISOR)}/${program.replace(/\.ts$/, '.mjs')}`;

/** Not written as one word: this module is bundled too, and the plugin would replace the word here. */
const META = ['import', 'meta'].join('.');

/** Replaces import.meta and __dirname with the module's path in the checkout, so that it finds its files there. */
const WHERE_THEY_STAND = {
  name: 'where they stand',
  setup({ onLoad }) {
    const place = (places, path, loader) => {
      const source = readFileSync(path, 'utf8');
      const contents = Object.entries(places).reduce((text, [name, value]) => text.replaceAll(name, JSON.stringify(value)), source);
      return contents === source ? undefined : { contents, loader };
    };
    onLoad({ filter: /\bnode_modules\b.*\.js$/ }, ({ path }) => place({ __dirname: dirname(path) }, path, 'js'));
    onLoad({ filter: /\.(ts|mjs)$/ }, ({ path }) =>
      place(
        { [`${META}.url`]: pathToFileURL(path).href, [`${META}.dirname`]: dirname(path), [`${META}.filename`]: path },
        path,
        path.endsWith('.ts') ? 'ts' : 'js',
      ),
    );
  },
};
