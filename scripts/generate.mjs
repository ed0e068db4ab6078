// Turns proto/ into what machines read: TypeScript types, codecs and gRPC stubs, and descriptor images with and without comments, all in
// packages/contract/src/gen, which git ignores. Skipped while proto/ is as it was at the last run. Bundles the console, makes the pages of the
// documentation and writes the client's types, too. Notes the files that all of it is made of, so that run.mjs need not ask.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, relative } from 'node:path';
import { note } from './as-noted.mjs';
import { buildConsole, consoleSources, consoleStamp } from './build-console.mjs';
import { buildDocs, docsSources, docsStamp } from './build-docs.mjs';
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
  // Made beside and put in place whole, for programs that are starting meanwhile.
  const fresh = `${out}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  const run = (...args) => {
    // In the root, so that buf names files as an editor opens them.
    const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
    const { status, error } = spawnSync(join(bin, 'buf'), args, { cwd: root, stdio: 'inherit', env });
    if (status === 0) return;
    rmSync(fresh, { recursive: true });
    fail(`buf ${args[0]} failed${error === undefined ? ', for the reason above' : `: ${error.message}`}.`);
  };
  run('build', 'proto', '-o', join(fresh, 'truckroll.binpb'));
  run('build', 'proto', '--exclude-source-info', '-o', join(fresh, 'uncommented.binpb'));
  run('generate', 'proto', '--path', 'proto/truckroll', '--template', 'proto/buf.gen.yaml', '-o', fresh);
  // The type registry knows a message only once its module is loaded; this module loads them all.
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

/** Ends the program. Whoever wrote the contract needs the reason and no stack. */
function fail(reason) {
  console.error(reason);
  process.exit(1);
}

/** Which records each service owns, as types: what a service must register (registered() of record-store). */
async function writeOwners() {
  const { resources } = await import('../packages/contract/src/operation.ts');
  const owners = [...Map.groupBy(resources, ({ owner }) => owner)].map(([owner, of]) => `  ${owner}: ${of.map(({ path }) => `'${path}'`).join(' | ')};\n`);
  writeFileSync(join(out, 'owners.ts'), `/** Public paths of the records of each service that owns any. */\nexport interface Owners {\n${owners.join('')}}\n`);
}

await buildConsole();
await buildDocs();
await writeClientTypes();

const sources = [...protoSources, ...consoleSources(), ...docsSources(), ...clientTypeSources, join(root, 'scripts/derive-protos.mjs')].map(below);
const folders = new Set(sources.flatMap((name) => parents(name)));
note('generated', { sources: [...sources, ...folders], made: [stamp, consoleStamp, docsStamp, clientTypes].map(below), beganAt });

function below(path) {
  return relative(root, path);
}

function parents(name) {
  const parent = dirname(name);
  return parent === '.' ? [] : [parent, ...parents(parent)];
}
