// `npm run servers`: only the backing servers, in the foreground, for development.
import { join } from 'node:path';
import { serverEnvironment, serversFile, shareServers } from './environment.ts';
import { STATE } from './folder.ts';
import { runMain } from './problem.ts';
import { stopRequest } from './processes/stop-request.ts';
import { Watchdog, endLeftovers } from './processes/watchdog.ts';
import { say } from './say.ts';
import { readSecrets } from './secrets.ts';
import { startServers } from './servers/index.ts';
import { LOOPBACK } from './servers/server.ts';
import { lockState } from './state-lock.ts';

await runMain(async () => {
  const lock = lockState(STATE, 'npm run servers');
  const record = join(STATE, 'processes.json');
  await endLeftovers(record);
  const watchdog = new Watchdog(record);
  watchdog.deleteAtEnd(serversFile(STATE));
  try {
    const { databasePassword: password } = readSecrets(STATE);
    const address = process.env['SERVERS_ADDRESS'] || LOOPBACK;
    const starting = startServers({ folder: STATE, watchdog, say, password, address, environment: process.env });
    const servers = await Promise.race([starting, stopRequest]);
    if (typeof servers === 'string') return 0;
    const environment = serverEnvironment(servers);
    shareServers(STATE, environment);
    for (const [name, value] of Object.entries(environment)) process.stdout.write(`${name}=${value}\n`);
    say('Press Ctrl-C to stop.');
    const ends = [...servers.running].map(async ([name, { daemon }]) => daemon.exited.then(() => name));
    const ended = await Promise.race([stopRequest.then(() => undefined), ...ends]);
    if (ended) say(`${ended} has ended by itself: ${join(STATE, 'logs', `${ended}.log`)} may say why.`);
    return ended ? 1 : 0;
  } finally {
    await watchdog.stopAll();
    lock.release();
  }
});
