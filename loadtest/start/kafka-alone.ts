import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Daemon, Ports, Problem, Watchdog, prepareKafka, say } from '@truckroll/local-stack';

/** The options of bin/kafka-server-start.sh. */
const PLAIN =
  '-Xmx1G -Xms1G -server -XX:+UseG1GC -XX:MaxGCPauseMillis=20 -XX:InitiatingHeapOccupancyPercent=35 -XX:+ExplicitGCInvokesConcurrent -Djava.awt.headless=true';
/** Settings that we chose and Kafka has defaults for. The others are needed: identity, listeners, data folder, single node. */
const CHOSEN = /^(auto\.create|message\.max|group\.|num\.|metadata\.|log\.cleaner|broker\.heartbeat)/;

/** Seconds from the launch of Java until Kafka reports that it has started. */
export async function kafkaAlone(state: string): Promise<number> {
  const watchdog = new Watchdog();
  const logs = join(state, 'logs');
  const log = join(logs, 'kafka.log');
  const context = { folder: state, logs, ports: new Ports(join(state, 'ports.json')), watchdog, say, careless: false, address: '127.0.0.1' };
  const { java, options, main, cwd, env, ready } = await prepareKafka(context);
  const [name, settings] = main;
  try {
    const args = [...PLAIN.split(' '), ...options.filter((option) => !option.startsWith('-X')), name, plain(join(cwd, settings))];
    const startedAt = performance.now();
    const daemon = new Daemon({ name: 'kafka', command: java, args, cwd, env, log, order: 'server', stopSignal: 'SIGTERM', graceMs: 20_000, watchdog });
    if (!(await daemon.printed(ready))) throw new Problem(`Kafka did not start: see ${log}.`);
    return (performance.now() - startedAt) / 1000;
  } finally {
    await watchdog.stopAll();
  }
}

function plain(settings: string): string {
  const file = `${settings}.plain`;
  const lines = readFileSync(settings, 'utf8').split('\n');
  writeFileSync(file, lines.filter((line) => !CHOSEN.test(line)).join('\n'));
  return file;
}
