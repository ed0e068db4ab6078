// Starts one process of each stop order, prints their pids and the watchdog's, and waits to be killed.
import { join } from 'node:path';
import { Daemon } from '../../src/processes/daemon.ts';
import type { StopOrder } from '../../src/processes/stop-in-order.ts';
import { Watchdog } from '../../src/processes/watchdog.ts';

const [folder = '', record] = process.argv.slice(2);
const watchdog = new Watchdog(record);
watchdog.deleteAtEnd(join(folder, 'run'));
const ends = join(folder, 'ends');
const pids: Record<string, number> = {};
for (const order of ['server', 'service', 'gateway'] satisfies StopOrder[]) {
  const script = `
    process.on('SIGTERM', () => { require('fs').appendFileSync(process.argv[1], '${order}\\n'); process.exit(0); });
    setInterval(() => undefined, 1000);
    console.log('up');
  `;
  const daemon = new Daemon({
    name: order,
    command: process.execPath,
    args: ['-e', script, ends],
    log: join(folder, 'run', `${order}.log`),
    order,
    stopSignal: 'SIGTERM',
    graceMs: 30_000,
    watchdog,
  });
  await daemon.printed(/up/);
  pids[order] = daemon.pid!;
}
console.log(JSON.stringify(pids));
console.log(watchdog.pid);
setInterval(() => undefined, 1000);
