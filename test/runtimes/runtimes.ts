// Each runtime runs program.mjs with the client in the node_modules of a folder, and answers what it printed.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { Problem, choosePort } from '@truckroll/local-stack';
import { until } from '@truckroll/testing/until';
import { startBrowser } from '../console/browser.ts';
import { npmModules } from '../generators/tools.ts';

/** What program.mjs takes: where the API is, and a signed webhook. */
export interface Task {
  readonly baseUrl: string;
  readonly token: string;
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Runtime {
  readonly name: string;
  /** Throws what the runtime printed when it fails. */
  run(folder: string, task: Task): Promise<string>;
}

/** Time after which a runtime hangs. */
const LONGEST_MS = 60_000;
const CLIENT = 'node_modules/@truckroll/client/dist';

function copy(folder: string, ...names: string[]): void {
  for (const name of names) copyFileSync(join(import.meta.dirname, name), join(folder, name));
}

/** A runtime that starts a file as Node does. `command` finds its program among the installed packages. */
function ofProcess(name: string, packages: Readonly<Record<string, string>>, command: (modules: string) => readonly [string, ...string[]]): Runtime {
  return {
    name,
    async run(folder, task) {
      copy(folder, 'program.mjs', 'process.mjs');
      const [program, ...args] = command(npmModules(packages));
      const env = { PATH: process.env['PATH'], HOME: folder, NO_COLOR: '1', TASK: JSON.stringify(task) };
      return (await promisify(execFile)(program, [...args, 'process.mjs'], { cwd: folder, env, timeout: LONGEST_MS })).stdout;
    },
  };
}

/** The program of a package for this machine. */
function binary(modules: string, pattern: string): string {
  const [found] = globSync(pattern, { cwd: modules });
  if (found === undefined) throw new Problem(`no program for ${process.platform}-${process.arch} is among what npm installed (${pattern})`);
  return join(modules, found);
}

const node = (version: string): Runtime =>
  ofProcess(`Node ${version}`, { [`node-${process.platform}-${process.arch}`]: version }, (modules) => [binary(modules, 'node-*/bin/node')]);
const bun = ofProcess('Bun 1.4.5', { bun: '1.4.5' }, (modules) => [binary(modules, `@oven/bun-*-${process.arch === 'arm64' ? 'aarch64' : 'x64'}/bin/bun`)]);
const deno = ofProcess('Deno 2.9.6', { deno: '2.9.6' }, (modules) => [
  binary(modules, '@deno/*/deno'),
  'run',
  '--quiet',
  '--node-modules-dir=manual',
  '--allow-net',
  '--allow-env',
]);

/** The runtime of Workers. Its configuration names every module. */
const workers: Runtime = {
  name: 'workerd 1.20261117.1',
  async run(folder, task) {
    copy(folder, 'program.mjs', 'worker.mjs');
    const port = await choosePort();
    const names = ['worker.mjs', 'program.mjs', ...globSync(`${CLIENT}/**/*.js`, { cwd: folder })];
    const modules = names.map((name) => `(name = "${name}", esModule = embed "${name}")`);
    writeFileSync(
      join(folder, 'config.capnp'),
      `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main), (name = "internet", network = (allow = ["private", "local", "public"]))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const main :Workerd.Worker = (modules = [${modules.join(', ')}], compatibilityDate = "2026-11-01");
`,
    );
    const program = binary(npmModules({ workerd: '1.20261117.1' }), '@cloudflare/workerd-*/bin/workerd');
    const child = spawn(program, ['serve', 'config.capnp'], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    child.on('error', (error) => (errors += String(error)));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    try {
      const ask = () =>
        fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: JSON.stringify(task), signal: AbortSignal.timeout(LONGEST_MS) }).catch((error: unknown) => {
          if (child.exitCode !== null) throw new Problem(`workerd ended with ${child.exitCode}: ${errors}`);
          return error as Error;
        });
      const answer = await until('workerd to answer', ask, (one) => one instanceof Response);
      const text = await (answer as Response).text();
      if (!(answer as Response).ok) throw new Problem(`${text}\n${errors}`);
      return text;
    } finally {
      if (child.exitCode === null) {
        child.kill();
        await once(child, 'exit');
      }
    }
  },
};

/** A page of the API's own origin, so that no CORS is needed. The test answers its requests for files. */
const chromium: Runtime = {
  name: 'Chromium',
  async run(folder, task) {
    copy(folder, 'program.mjs');
    const browser = await startBrowser();
    try {
      const page = await browser.newPage();
      await page.setRequestInterception(true);
      page.on('request', (request) => {
        const { pathname } = new URL(request.url());
        if (!pathname.startsWith('/files/')) return void request.continue();
        const name = pathname.slice('/files/'.length);
        const page = name === 'page.html';
        void request.respond({
          contentType: extname(name) === '.html' ? 'text/html' : 'text/javascript',
          body: page ? '<!doctype html><title>The client</title>' : readFileSync(join(folder, name)),
        });
      });
      await page.goto(`${task.baseUrl}/files/page.html`);
      const [client, program] = [`/files/${CLIENT}/index.js`, '/files/program.mjs'];
      return await page.evaluate(
        async (clientFile, programFile, given) => {
          const module = (await import(programFile)) as { program(client: unknown, task: unknown): Promise<string> };
          return await module.program(await import(clientFile), given);
        },
        client,
        program,
        task as never,
      );
    } finally {
      await browser.close();
    }
  },
};

export const runtimes: readonly Runtime[] = [node('20.20.2'), node('22.23.5'), node('24.21.0'), node('26.12.1'), bun, deno, workers, chromium];
