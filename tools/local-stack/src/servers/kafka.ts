import { existsSync, mkdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { basename, delimiter, join } from 'node:path';
import { formatAddress } from '@truckroll/process/addresses';
import { readJson, writeJson } from '../files.ts';
import { Problem, fullDisk } from '../problem.ts';
import { run } from '../processes/run.ts';
import { classArchive } from './class-archive.ts';
import { kafkaJars } from './kafka-jars.ts';
import { launch } from './launch.ts';
import { LOOPBACK, type RunningServer, type ServerContext } from './server.ts';

const CLUSTER_ID = 'truckroll-local-stack1';
const NEEDED_JAVA = 17;
const DATA = 'data';
const FRESH = 'data.new';
/** Without a UTF-8 locale, Java on Linux cannot open a folder whose path is not ASCII. */
const ENVIRONMENT: NodeJS.ProcessEnv = process.platform === 'linux' ? { ...process.env, LC_ALL: 'C.UTF-8' } : process.env;

export interface KafkaProgram {
  readonly java: string;
  readonly options: readonly string[];
  readonly main: readonly [string, string];
  readonly data: string;
  /** Where Kafka runs. Its settings name folders relative to this one: `log.dirs` is a list in which a comma cannot be escaped. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly port: number;
  readonly ready: RegExp;
}

export async function startKafka(context: ServerContext): Promise<RunningServer> {
  const { java, options, main, data, cwd, env, port, ready } = await prepareKafka(context);
  const daemon = await launch({
    command: java,
    args: [...options, ...main],
    cwd,
    env,
    name: 'kafka',
    title: 'Kafka',
    dataFolder: data,
    afterDeletion: 'to begin without the events of the past',
    log: join(context.logs, 'kafka.log'),
    stopSignal: 'SIGTERM',
    graceMs: 20_000,
    ready,
    watchdog: context.watchdog,
  });
  return { daemon, port, url: formatAddress(context.address, port) };
}

/** Finds Java and Kafka's jars, writes the node's settings, and formats its data folder if it is missing. */
export async function prepareKafka(context: ServerContext): Promise<KafkaProgram> {
  const folder = join(context.folder, 'kafka');
  const data = join(folder, DATA);
  mkdirSync(folder, { recursive: true });
  const checking = requireJava(join(folder, 'java.json'));
  const [{ java, version }, jars] = await Promise.all([checking, kafkaJars(context.say, checking)]);
  const port = await context.ports.take('kafka');
  const controller = await context.ports.take('kafka-controller');
  const options = javaOptions(jars);
  if (!existsSync(data)) await format(java, options, folder, properties(FRESH, context.address, port, controller));
  const config = join(folder, 'server.properties');
  writeFileSync(config, properties(DATA, context.address, port, controller));
  // Writing the archive costs as much as it saves, so it does not pay for a single test run.
  const archive = context.careless ? [] : classArchive(folder, version);
  const main = ['kafka.Kafka', basename(config)] as const;
  return { java, options: [...archive, ...options], main, data, cwd: folder, env: ENVIRONMENT, port, ready: /Kafka Server started/ };
}

/** Cached: `java -version` takes a tenth of the time in which Kafka starts. */
async function requireJava(noted: string): Promise<{ java: string; version: string }> {
  const home = process.env['JAVA_HOME'];
  const folders = [...(home ? [join(home, 'bin')] : []), ...(process.env['PATH'] ?? '').split(delimiter)];
  const java = folders.map((each) => join(each, 'java')).find((each) => existsSync(each)) ?? 'java';
  const program = identityOf(java);
  const before = readJson<{ program: string; version: string }>(noted);
  if (program !== undefined && before?.program === program) return { java, version: before.version };
  const how = process.platform === 'darwin' ? 'brew install openjdk@21' : 'sudo apt-get install openjdk-17-jre-headless';
  const remedy = `install Java ${NEEDED_JAVA} or newer (${how}), or name your own Kafka in KAFKA_BROKERS`;
  const result = await run(java, ['-version']);
  if (result.code !== 0) throw new Problem(`Java is missing, which Kafka needs: ${remedy}.`);
  const [, version = ''] = /version "(?:1\.)?([\w.+-]+)/.exec(result.stderr) ?? [];
  const major = Number.parseInt(version, 10);
  if (major < NEEDED_JAVA) throw new Problem(`Java ${major} is too old for Kafka: ${remedy}.`);
  if (program !== undefined) writeJson(noted, { program, version });
  return { java, version };
}

function identityOf(java: string): string | undefined {
  if (!existsSync(java)) return undefined;
  const path = realpathSync(java);
  const { mtimeMs, size } = statSync(path);
  return `${path} ${mtimeMs} ${size}`;
}

function javaOptions(jars: string): string[] {
  const log = (name: string) => `-Dorg.slf4j.simpleLogger.${name}`;
  return [
    '-Xms128m',
    '-Xmx512m',
    '-XX:+UseSerialGC',
    '-XX:+ExitOnOutOfMemoryError',
    // Optimising JIT would take half of a short run, and gains little in a long one because this broker has little to do.
    '-XX:TieredStopAtLevel=1',
    '-XX:-UsePerfData',
    log('defaultLogLevel=warn'),
    log('log.kafka.server.KafkaRaftServer=info'),
    log('showDateTime=true'),
    log("dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSSXXX"),
    '-cp',
    join(jars, '*'),
  ];
}

/** Written under a temporary name first, so that an existing folder is always complete. */
async function format(java: string, options: readonly string[], folder: string, config: string): Promise<void> {
  const partial = join(folder, FRESH);
  const file = join(folder, 'format.properties');
  rmSync(partial, { recursive: true, force: true });
  writeFileSync(file, config);
  const result = await run(java, [...options, 'kafka.tools.StorageTool', 'format', '-t', CLUSTER_ID, '-c', basename(file)], { cwd: folder, env: ENVIRONMENT });
  if (result.code !== 0) {
    const output = `${result.stderr} ${result.stdout}`.trim();
    throw fullDisk(output, folder) ?? new Problem(`Kafka could not create its data folder in ${folder}: ${output.split('\n')[0]}.`);
  }
  renameSync(partial, join(folder, DATA));
  rmSync(file);
}

function properties(data: string, address: string, port: number, controller: number): string {
  const own = formatAddress(isIPv6(address) ? '::1' : LOOPBACK, controller);
  const broker = formatAddress(address, port);
  const settings = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    // Voters are configured here rather than in the log, so that ports may change at the next start.
    'controller.quorum.voters': `1@${own}`,
    listeners: `PLAINTEXT://${broker},CONTROLLER://${own}`,
    'advertised.listeners': `PLAINTEXT://${broker}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'log.dirs': data,
    // Programs create their own topics, with the settings they need.
    'auto.create.topics.enable': false,
    // Topics created by releases that set no limit must still take imported records of 3 MiB.
    'message.max.bytes': 4 << 20,
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 4,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'transaction.state.log.num.partitions': 4,
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
    // Each group has one consumer, so there are no other members to wait for.
    'group.initial.rebalance.delay.ms': 0,
    // A broker for one machine is mostly idle. With the defaults, polling threads and heartbeats would be most of its work.
    'broker.heartbeat.interval.ms': 4000,
    // Share groups are not used, so their state is not stored.
    'group.share.persister.class.name': 'org.apache.kafka.server.share.persister.NoOpStatePersister',
    'num.network.threads': 1,
    'num.io.threads': 2,
    'group.coordinator.threads': 1,
    'metadata.max.idle.interval.ms': 0,
    'log.cleaner.dedupe.buffer.size': 16 << 20,
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}
