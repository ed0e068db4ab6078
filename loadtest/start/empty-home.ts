// `npm start` in a fresh clone, on a machine with Node, Java, Maven and Redis.
import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT, choosePort, say } from '@truckroll/local-stack';
import { rounded } from '../measure/report.ts';
import { untilReady } from './whole.ts';

/** Settings of package registries, if the machine has any. */
const SETTINGS = ['.npmrc', '.config/go/env', '.m2/settings.xml'];
const DOWNLOADS = { packages: /^installed packages in ([\d.]+) s$/m, kafka: /^Kafka \S+: downloaded in ([\d.]+) s$/m };

export async function emptyHome(folder: string): Promise<Record<string, number>> {
  rmSync(folder, { recursive: true, force: true });
  const home = join(folder, 'home');
  for (const name of SETTINGS.filter((each) => existsSync(join(homedir(), each)))) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    copyFileSync(join(homedir(), name), join(home, name));
  }
  const clone = join(folder, 'clone');
  execFileSync('git', ['clone', '-q', '--no-hardlinks', ROOT, clone]);
  const file = `${folder}.log`;
  const log = openSync(file, 'w');
  // Remove the variables that the npm running this benchmark has set.
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|NODE_OPTIONS|NODE_COMPILE_CACHE|XDG_|INIT_CWD|DATABASE_URL|REDIS_URL|KAFKA_BROKERS)/.test(name),
  );
  const env = { ...Object.fromEntries(inherited), HOME: home, PORT: String(await choosePort()) };
  say('npm start in a fresh clone, with an empty home …');
  const startedAt = performance.now();
  const child = spawn('npm', ['start'], { cwd: clone, env, stdio: ['ignore', log, log] });
  const seconds = await untilReady(child, join(clone, '.truckroll/ready.json'), startedAt, file);
  const said = readFileSync(file, 'utf8');
  const downloads = Object.entries(DOWNLOADS).map(([name, pattern]) => [name, Number(pattern.exec(said)?.[1] ?? 0)] as const);
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  const downloading = downloads.reduce((sum, [, each]) => sum + each, 0);
  return {
    empty_home_seconds: rounded(seconds),
    ...Object.fromEntries(downloads.map(([name, each]) => [`download_${name}_seconds`, rounded(each)])),
    empty_home_beside_downloads_seconds: rounded(seconds - downloading),
  };
}
