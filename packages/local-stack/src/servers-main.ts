// `node scripts/run.mjs servers`: the backing servers alone, in the foreground, for developing against.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { serverEnvironment } from './environment.ts';
import { writeJson } from './files.ts';
import { STATE } from './folder.ts';
import { runMain } from './problem.ts';
import { stopRequest } from './processes/stop-request.ts';
import { Watchdog } from './processes/watchdog.ts';
import { say } from './say.ts';
import { readSecrets } from './secrets.ts';
import { startServers } from './servers/index.ts';

const FILE = join(STATE, 'servers.json');

await runMain(async () => {
  const watchdog = new Watchdog();
  try {
    const password = readSecrets(STATE).databasePassword;
    const servers = await startServers({ folder: STATE, watchdog, say, password, environment: process.env });
    try {
      const environment = serverEnvironment(servers);
      writeJson(FILE, { ...environment, pid: process.pid });
      for (const [name, value] of Object.entries(environment)) process.stdout.write(`${name}=${value}\n`);
      say('Press Ctrl-C to stop.');
      const failure = Promise.race([...servers.running].map(([name, server]) => server.daemon.exited.then(() => name)));
      const name = await Promise.race([stopRequest.then(() => undefined), failure]);
      if (name) say(`${name} has ended: see ${join(STATE, 'logs', `${name}.log`)}`);
      return name ? 1 : 0;
    } finally {
      rmSync(FILE, { force: true });
      await servers.stop();
    }
  } finally {
    watchdog.done();
  }
});
