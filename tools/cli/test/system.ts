// The whole system as separate processes with a separate database, and the command line in front of it.
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { addressVariable, owners } from '@truckroll/contract';
import { acceptanceOf } from '@truckroll/grpc';
import { freshDatabase, testCaller, testCallers } from '@truckroll/testing';
import { run } from '../src/run.ts';

const ROOT = join(import.meta.dirname, '../../..');

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function startSystem() {
  const database = await freshDatabase({});
  const folder = mkdtempSync(join(tmpdir(), 'truckroll-cli-'));
  mkdirSync(join(folder, '.truckroll'));
  const servers = {
    DATABASE_URL: database.url,
    REDIS_URL: process.env['REDIS_URL'],
    KAFKA_BROKERS: process.env['KAFKA_BROKERS'],
    // Other test files use the same Kafka at the same time.
    KAFKA_PREFIX: `${randomBytes(4).toString('hex')}.`,
    CALLER_CREDENTIALS: testCallers.map(acceptanceOf).join(),
    WEBHOOK_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  };
  const processes: ChildProcess[] = [];
  const start = async (path: string, environment: Record<string, string | undefined>): Promise<string> => {
    const child = spawn(process.execPath, [join(ROOT, path, 'src/main.ts')], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH: process.env['PATH'], HOST: '127.0.0.1', PORT: '0', METRICS_PORT: '0', ...servers, ...environment },
    });
    processes.push(child);
    return `127.0.0.1:${await servingPort(child, path)}`;
  };
  const addresses: Record<string, string> = {};
  await Promise.all(
    owners.map(async (name) => {
      addresses[addressVariable(name)] = await start(`services/${name}`, {});
    }),
  );
  const gateway = await start('gateway', {
    ...addresses,
    CALL_CREDENTIAL: testCaller('gateway').text,
    CURSOR_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    IDENTITY_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  });
  const env: Record<string, string> = { ...addresses, CALL_CREDENTIAL: testCaller('operator').text, TRUCKROLL_URL: `http://${gateway}` };

  return {
    env,
    folder,
    databaseUrl: database.url,
    truckroll: (...args: string[]) => truckroll(args, env, folder),
    async stop() {
      await Promise.all(
        processes.map(async (child) => {
          child.kill('SIGTERM');
          if (child.exitCode === null) await once(child, 'exit');
        }),
      );
      rmSync(folder, { recursive: true });
      await database.drop();
    },
  };
}

export async function truckroll(
  args: string[],
  env: Record<string, string>,
  cwd: string,
  isTTY = false,
  signal = new AbortController().signal,
): Promise<Outcome> {
  let stdout = '';
  let stderr = '';
  const code = await run(args, {
    env,
    cwd,
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text), isTTY },
    signal,
  });
  return { code, stdout, stderr };
}

async function servingPort(child: ChildProcess, path: string): Promise<number> {
  const lines = createInterface({ input: child.stdout! });
  const said: string[] = [];
  for await (const line of lines) {
    said.push(line);
    const { msg, port } = JSON.parse(line) as { msg: string; port?: number };
    if (msg !== 'serving' || port === undefined) continue;
    child.stdout!.resume();
    return port;
  }
  throw new Error(`${path} ended before it served:\n${said.join('\n')}`);
}
