// Generates code from proto/: TypeScript types, codecs and gRPC stubs, and descriptor images with and without comments, all in
// packages/contract/src/gen, which git ignores. Skipped if proto/ has not changed since the last run. Also bundles the console, builds the
// documentation's pages and writes the client's types. Records all source files, so that run.mjs can see whether anything changed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, relative } from 'node:path';
import { note } from './as-noted.mjs';
import { buildConsole, consoleSources, consoleStamp } from './build-console.mjs';
import { buildDocs, docsSources, docsStamp } from './build-docs.mjs';
import { buildClients, clientsSources, clientsStamp } from './build-clients.mjs';
import { cliCatalogSources, cliCatalog, writeCliCatalog } from './cli-catalog.mjs';
import { clientTypeSources, clientTypes, writeClientTypes } from './client-types.mjs';
import { deriveProtos } from './derive-protos.mjs';

const root = join(import.meta.dirname, '..');
const proto = join(root, 'proto');
const out = join(root, 'packages/contract/src/gen');
const stamp = join(out, '.stamp');
const beganAt = Date.now();

for (const path of deriveProtos()) console.error(`wrote proto/${path}`);
const hash = createHash('sha256');
const protos = readdirSync(proto, { recursive: true })
  .filter((name) => /\.(proto|yaml)$/.test(name))
  .sort();
const protoSources = [...protos.map((source) => join(proto, source)), join(root, 'pnpm-lock.yaml'), import.meta.filename];
for (const name of protoSources) {
  hash.update(name.slice(root.length)).update(readFileSync(name));
}
const digest = hash.digest('hex');

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== digest) {
  const bin = join(root, 'node_modules/.bin');
  // Built in a separate folder and renamed, so that a program that is starting never sees half of it.
  const fresh = `${out}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  const run = (...args) => {
    // Runs in the root, so that buf reports paths as editors open them.
    const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
    const { status, error } = spawnSync(join(bin, 'buf'), args, { cwd: root, stdio: 'inherit', env });
    if (status === 0) return;
    rmSync(fresh, { recursive: true });
    fail(`buf ${args[0]} failed${error === undefined ? ', for the reason above' : `: ${error.message}`}.`);
  };
  // Relative, because buf takes what follows a # for options.
  const to = (name = '') => relative(root, join(fresh, name));
  run('build', 'proto', '-o', to('truckroll.binpb'));
  run('build', 'proto', '--exclude-source-info', '-o', to('uncommented.binpb'));
  run('generate', 'proto', '--path', 'proto/truckroll', '--template', 'proto/buf.gen.yaml', '-o', to());
  // A message is in the type registry only once its module is loaded; this module loads all of them.
  const modules = readdirSync(fresh, { recursive: true })
    .filter((name) => name.endsWith('.ts'))
    .sort();
  writeFileSync(join(fresh, 'all.ts'), modules.map((name) => `import './${name}';\n`).join(''));
  const former = `${fresh}.former`;
  if (existsSync(out)) renameSync(out, former);
  renameSync(fresh, out);
  rmSync(former, { recursive: true, force: true });
  await writeOwners().catch((error) => fail(`The contract contradicts itself: ${error.message}`));
  writeFileSync(stamp, digest);
  console.error(`generated code for ${protos.length} proto files`);
}

/** Ends the program with the reason only: a stack does not help the author of the contract. */
function fail(reason) {
  console.error(reason);
  process.exit(1);
}

/** The records that each service owns, as types: what a service must register (registered() of record-store). */
async function writeOwners() {
  const { resources } = await import('../packages/contract/src/operation.ts');
  const owners = [...Map.groupBy(resources, ({ owner }) => owner)].map(([owner, of]) => `  ${owner}: ${of.map(({ path }) => `'${path}'`).join(' | ')};\n`);
  writeFileSync(join(out, 'owners.ts'), `/** Public paths of the records of each service that owns any. */\nexport interface Owners {\n${owners.join('')}}\n`);
}

await buildConsole();
await buildDocs();
await writeClientTypes();
writeCliCatalog();
buildClients();

const sources = [
  ...protoSources,
  ...consoleSources(),
  ...docsSources(),
  ...clientTypeSources,
  ...cliCatalogSources,
  ...clientsSources(),
  join(root, 'scripts/derive-protos.mjs'),
].map(below);
const folders = new Set(sources.flatMap((name) => parents(name)));
note('generated', { sources: [...sources, ...folders], made: [stamp, consoleStamp, docsStamp, clientTypes, cliCatalog, clientsStamp].map(below), beganAt });

function below(path) {
  return relative(root, path);
}

function parents(name) {
  const parent = dirname(name);
  return parent === '.' ? [] : [parent, ...parents(parent)];
}
