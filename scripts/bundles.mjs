// Bundles what `npm start` runs, each program with its packages in one file below node_modules: four hundred modules that are
// looked for, read and stripped of types one by one are most of what a start would do otherwise. What a program reads beside
// its modules it goes on finding there. deploy/bundle.mjs makes what images run.
import { existsSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AS_A_MODULE } from '../deploy/bundle.mjs';
import { isAsNoted, note } from './as-noted.mjs';

const root = join(import.meta.dirname, '..');
const FOLDER = 'node_modules/.cache/bundles';
/** What packages there are, and how bundles are made of them. */
const ALWAYS = ['pnpm-lock.yaml', 'scripts/bundles.mjs', 'deploy/bundle.mjs'];

/** Where Node keeps the compiled code of bundles. */
export const COMPILED = join(root, 'node_modules/.cache/compiled');

/** The programs of one system, which share most of their modules: each loads a few files, and what they share is made once. */
const SYSTEM = [...readdirSync(join(root, 'services')).map((name) => `services/${name}/src/main.ts`), 'gateway/src/main.ts'];
/** What starts them: npm start, and the benchmarks of it. */
const SUPERVISOR = ['tools/local-stack/src/start-main.ts', 'loadtest/idle/start-main.ts'];

/** What is run of a program, `services/billing/src/main.ts`, when it was bundled; undefined where there is no bundle of its modules as they are now. */
export function bundleOf(program) {
  const group = [SYSTEM, SUPERVISOR].find((programs) => programs.includes(program));
  return group !== undefined && isAsNoted(nameOf(group)) ? join(root, placeOf(program)) : undefined;
}

/** Bundles the programs of a system where they are not as their modules are. Resolves to where they lie. Rejects where a module is wrong. */
export async function bundleSystem() {
  if (!isAsNoted(nameOf(SYSTEM))) {
    await bundle(SYSTEM);
    // Of modules that have changed, under names that nobody asks for any more.
    rmSync(COMPILED, { recursive: true, force: true });
  }
  return new Map(SYSTEM.map((program) => [program, join(root, placeOf(program))]));
}

/** The same of what starts them, for the next time. */
export async function bundleSupervisor() {
  if (!isAsNoted(nameOf(SUPERVISOR))) await bundle(SUPERVISOR);
}

async function bundle(programs) {
  const { build, stop } = createRequire(join(root, 'gateway/package.json'))('esbuild');
  const folder = join(root, folderOf(programs));
  // Made beside and put in place whole, for others who start meanwhile.
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
  // What a plugin has made up has its name before a colon.
  const modules = Object.keys(metafile.inputs).filter((name) => !name.includes(':'));
  note(nameOf(programs), { sources: [...ALWAYS, ...modules], made: programs.map(placeOf), beganAt });
}

const nameOf = (programs) => `bundles of ${programs[0]}`;
const folderOf = (programs) => `${FOLDER}/${programs === SYSTEM ? 'system' : 'supervisor'}`;
const placeOf = (program) => `${folderOf(SYSTEM.includes(program) ? SYSTEM : SUPERVISOR)}/${program.replace(/\.ts$/, '.mjs')}`;

/** Not in one word: this module is bundled too, and what it looks for would be replaced in it. */
const META = ['import', 'meta'].join('.');

/** Modules that look beside themselves for files do so where they stand in the checkout. */
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
