// Checks @truckroll/client and @truckroll/cli as published: size, module resolution, READMEs. `node scripts/run.mjs check:client`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';

/** Maximum size of calls, copies and the verification of webhooks together, in compressed bytes. */
const MOST_BYTES = 11_000;
/** Globals of every platform that has fetch. */
const WEB = [
  'AbortController',
  'AbortSignal',
  'Headers',
  'Response',
  'TextDecoder',
  'TextEncoder',
  'URL',
  'URLSearchParams',
  'clearTimeout',
  'crypto',
  'setTimeout',
];
const root = join(import.meta.dirname, '..');
const client = join(root, 'packages/client');
const parts = createRequire(join(client, 'package.json'));
const { build } = parts('esbuild');
const { publint } = await import(pathToFileURL(join(client, 'node_modules/publint/src/index-node.js')).href);
const { checkPackage, createPackageFromTarballData } = await import(pathToFileURL(join(client, 'node_modules/@arethetypeswrong/core/dist/index.js')).href);

const parent = mkdtempSync(join(tmpdir(), 'truckroll-client-'));
// Tarballs of a registry contain a folder of this name.
const folder = join(parent, 'package');
const faults = [];
try {
  run(process.execPath, join(root, 'scripts/build-client.mjs'), folder);
  run('tar', '-czf', join(parent, 'client.tgz'), '-C', parent, 'package');
  const tarball = new Uint8Array(readFileSync(join(parent, 'client.tgz')));

  const used = await bundled(`import { createClient, verifyWebhook } from './dist/index.js'; globalThis.used = [createClient, verifyWebhook];`);
  const size = gzipSync(used, { level: 9 }).length;
  if (size > MOST_BYTES) faults.push(`paging and verification are ${size} bytes compressed, more than ${MOST_BYTES}`);
  faults.push(...(await strangers(used)));
  const idle = (await bundled(`import './dist/index.js';`)).trim();
  if (idle !== '') faults.push(`importing it alone leaves code behind: ${idle.slice(0, 200)}`);

  const { messages } = await publint({ pack: { tarball: tarball.buffer }, strict: true });
  for (const { code, path } of messages) faults.push(`publint: ${code} at ${path.join('.')}`);
  const { problems } = await checkPackage(createPackageFromTarballData(tarball));
  // The package has ES modules only, so problems with CommonJS and with Node before version 12 do not count.
  for (const problem of problems) {
    if (problem.kind !== 'CJSResolvesToESM' && problem.resolutionKind !== 'node10') faults.push(`arethetypeswrong: ${JSON.stringify(problem)}`);
  }

  const readme = readFileSync(join(client, 'README.md'), 'utf8');
  for (const [, target] of readme.matchAll(/\]\((?!https:|#)([^)]+)\)/g)) faults.push(`README.md links to ${target}, which the package does not have`);
  faults.push(...installedNode());
  const samples = [...readme.matchAll(/```ts\n([^]*?)```/g)].map(([, code]) =>
    code.replace("'@truckroll/client'", "'./dist/index.js'").replace(/'@truckroll\/client\/(\w+)'/g, "'./dist/stores/$1.js'"),
  );
  const files = samples.map((code, index) => {
    writeFileSync(join(folder, `sample-${index}.ts`), code);
    return join(folder, `sample-${index}.ts`);
  });
  const types = ['--typeRoots', join(root, 'node_modules/@types'), '--types', 'node'];
  const options = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--target', 'es2024', '--module', 'nodenext', ...types];
  run(process.execPath, join(root, 'node_modules/typescript-7/bin/tsc'), ...options, ...files);
  await checkCli();
  console.log(`${size} bytes compressed, ${samples.length} samples: ${faults.length} faults`);
} finally {
  rmSync(parent, { recursive: true });
}
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;

/** Runs the bundle with web APIs only, as on Workers: reads a page and verifies a webhook. Returns what is wrong. */
async function strangers(bundle) {
  const { Webhook } = await import(pathToFileURL(parts.resolve('standardwebhooks')).href);
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const [id, at, body] = ['event', new Date(), '{"type":"webhook.test"}'];
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new (Webhook.default ?? Webhook)(secret).sign(id, at, body),
  };
  const { Headers, Response } = globalThis;
  const web = Object.fromEntries(WEB.map((name) => [name, globalThis[name]]));
  const asked = [];
  const fetch = (url, init) => {
    asked.push(`${init.method} ${url} ${new Headers(init.headers).get('authorization')}`);
    return Promise.resolve(Response.json({ data: [{ id: String(asked.length) }], pagination: { next_cursor: asked.length === 1 ? 'next' : null } }));
  };
  const context = createContext({ ...web, fetch, secret, headers, body });
  runInContext(bundle, context);
  const returned = await runInContext(
    `(async () => {
    const [createClient, verifyWebhook] = globalThis.used;
    const ids = [];
    for await (const { id } of createClient({ baseUrl: 'https://api.example.com/', token: 'trk_x' }).invoices.list()) ids.push(id);
    return [...ids, verifyWebhook(secret, headers, body).type].join();
  })()`,
    context,
  ).catch((error) => String(error));
  const url = 'GET https://api.example.com/v1/invoices';
  const good = returned === '1,2,webhook.test' && asked.join() === `${url} Bearer trk_x,${url}?cursor=next Bearer trk_x`;
  return good ? [] : [`without Node's own it returned ${returned}, and requested ${asked.join()}`];
}

/** The command line has no exports, so there is less to check. */
async function checkCli() {
  const place = join(parent, 'cli');
  run(process.execPath, join(root, 'scripts/build-cli.mjs'), join(place, 'package'));
  run('tar', '-czf', join(parent, 'cli.tgz'), '-C', place, 'package');
  const { messages: found } = await publint({ pack: { tarball: new Uint8Array(readFileSync(join(parent, 'cli.tgz'))).buffer }, strict: true });
  for (const { code, path } of found) faults.push(`publint of the command line: ${code} at ${path.join('.')}`);
  const text = readFileSync(join(place, 'package/README.md'), 'utf8');
  for (const [, target] of text.matchAll(/\]\((?!https:|#)([^)]+)\)/g)) faults.push(`README.md of the command line links to ${target}`);
}

/** Has the Node of the PATH, which may be an older one, import the package and start its program, which then names what it lacks. */
function installedNode() {
  const program = `const { createClient } = await import('./dist/index.js');
    const { data } = await createClient({ baseUrl: 'https://x', token: 't', fetch: async () => Response.json({ data: 7 }) }).company.get();
    console.log(data);`;
  const { stdout, stderr } = spawnSync('node', ['--input-type=module', '-e', program], { cwd: folder, encoding: 'utf8' });
  const { stderr: lacks } = spawnSync('node', ['dist/mcp.js'], { cwd: folder, encoding: 'utf8', env: { PATH: process.env.PATH } });
  return [
    ...(stdout.trim() === '7' ? [] : [`the Node of the PATH printed ${stdout}${stderr}`]),
    ...(lacks.startsWith('truckroll-mcp: set TRUCKROLL_URL') ? [] : [`truckroll-mcp printed ${lacks}`]),
  ];
}

/** Minified for no platform in particular, so that an import of a Node module fails. */
async function bundled(contents) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: folder },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    write: false,
    logLevel: 'silent',
  });
  return outputFiles[0].text;
}

function run(command, ...args) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`);
}
