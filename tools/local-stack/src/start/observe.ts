// `npm start -- --observe`: also runs Prometheus.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatAddress } from '@truckroll/process/addresses';
import { ROOT } from '../folder.ts';
import type { Ports } from '../ports.ts';
import type { Watchdog } from '../processes/watchdog.ts';
import { howToGetPrometheus, installedPrometheus } from '../prometheus.ts';
import type { Say } from '../say.ts';
import { launch } from '../servers/launch.ts';
import type { ProcessPlan } from './plan.ts';

export interface ObserveOptions {
  readonly state: string;
  /** Address to listen on. */
  readonly address: string;
  readonly ports: Ports;
  readonly watchdog: Watchdog;
  readonly say: Say;
  readonly processes: readonly Pick<ProcessPlan, 'name' | 'metricsUrl'>[];
}

const PREFERRED_PORT = 9090;
const RULES = ['alerts.yaml', 'slo.yaml'].map((name) => join(ROOT, 'deploy/dashboards', name));

/** Starts Prometheus with its data in the state folder. Resolves to its address; undefined, with a message, if it is not installed. */
export async function observe({ state, address, ports, watchdog, say, processes }: ObserveOptions): Promise<string | undefined> {
  const command = await installedPrometheus('prometheus');
  if (command === undefined) {
    say(`--observe needs Prometheus, which is missing: ${howToGetPrometheus}, and start again. The system runs without it.`);
    return undefined;
  }
  const folder = join(state, 'prometheus');
  mkdirSync(join(folder, 'data'), { recursive: true, mode: 0o700 });
  const file = join(folder, 'prometheus.yml');
  writeFileSync(file, configuration(processes), { mode: 0o600 });
  const port = await ports.take('prometheus', PREFERRED_PORT);
  await launch({
    name: 'prometheus',
    title: 'Prometheus',
    command,
    args: [`--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'data')}`, `--web.listen-address=${formatAddress(address, port)}`],
    dataFolder: join(folder, 'data'),
    afterDeletion: 'to begin without the figures of before',
    log: join(state, 'logs', 'prometheus.log'),
    stopSignal: 'SIGTERM',
    graceMs: 10_000,
    ready: /Server is ready to receive web requests/,
    watchdog,
  });
  return `http://${formatAddress(address, port)}`;
}

/** JSON, which is also valid YAML. */
function configuration(processes: ObserveOptions['processes']): string {
  const targets = processes.map(({ name, metricsUrl }) => ({ targets: [new URL(metricsUrl).host], labels: { process: name } }));
  return `${JSON.stringify({ global: { scrape_interval: '5s', evaluation_interval: '15s' }, rule_files: RULES, scrape_configs: [{ job_name: 'truckroll', static_configs: targets }] }, null, 2)}\n`;
}
