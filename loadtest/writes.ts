// npm run bench:writes: the two scheduling writes over HTTP, alternating with the same statements run by pgbench on the same database.
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { Problem, say } from '@truckroll/local-stack';
import pg from 'pg';
import { importFile } from './data/import.ts';
import { TECHNICIANS, VISITS, idInSql, idOf, visitFiles } from './data/visits.ts';
import { cpuText, perEach, withCpu } from './measure/cpu.ts';
import { pgbenchPath, runPgbench, scriptOf, type Script } from './measure/pgbench.ts';
import { startRecorder } from './measure/recorder.ts';
import { rounded } from './measure/report.ts';
import { median } from './measure/rounds.ts';
import { requireWrk, runLoad, writeTargets } from './measure/wrk.ts';
import { runBenchmark } from './system/benchmark.ts';
import { KeyFile, Operator } from './system/operator.ts';
import { drained } from './system/outbox.ts';
import { postgresPid } from './system/postgres.ts';
import { startGateway, startServices } from './system/programs.ts';
import type { Running, Stack } from './system/stack.ts';
import { measureNoise } from './writes/noisy.ts';
import { COMPANY, DATABASE, FOLDER, prepareCompany, readVisits, writeLoad, type Visit } from './writes/system.ts';
import { measureBesideUsual } from './writes/usual-service.ts';

const HELP = `npm run bench:writes -- [--rounds 3] [--seconds 10] [--quick] [--only noise|usual] [--before FOLDER]

Adds and removes technicians on 10,000 visits with 16 connections over HTTP, in turn with pgbench, which runs the
statements that the service was seen to send, in the same transactions, on the same database: as pgbench does by default,
prepared as the service does, and in the service's pipelines too. Nothing else runs beside pgbench. Reads of one visit
are measured too: the same road with a single statement. Then come, in turn, the writes and those of an Express process with
the same promises (loadtest/baseline/writes), while nobody publishes; and of another checkout with --before. Last, two \`truckroll simulate --speed 600 --per-hour 600\` flood
one company beside a reader of another, whose p99 is compared with the same without them: five rounds. --quick runs one short round: for developing only.
`;
/** The company whose reads are measured during the other company's flood. */
const READER = { ...COMPANY, id: '7d1c0f52-3e0b-8c41-a6f2-0d4b8e1f9a38', name: 'Reader beside a flood' };
const CONNECTIONS = 16;
const TITLES = { writes: 'writes', reads: 'reads of one visit', simple: 'pgbench', prepared: 'pgbench, prepared', pipelined: 'pgbench, in pipelines' };

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    before: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

await runBenchmark({
  help: HELP,
  asked: options.help,
  database: DATABASE,
  folder: FOLDER,
  check() {
    requireWrk();
    pgbenchPath();
  },
  run: benchmark,
});

interface Rate {
  perSecond: number;
  p50?: number;
  p99?: number;
}

async function benchmark(stack: Stack): Promise<Record<string, number>> {
  if (options.only !== undefined && !['noise', 'usual'].includes(options.only)) throw new Problem(`--only ${options.only} is not known: give noise or usual.`);
  const { key, readerKey, scripts, settings } = await prepare(stack);
  const rounds = Number(options.rounds ?? (options.quick ? 1 : 3));
  const seconds = Number(options.seconds ?? (options.quick ? 4 : 10));
  const write = writeLoad(key, CONNECTIONS);
  const postgres = await postgresPid(stack);
  const start = async (checkout?: string) => {
    const services = await startServices(stack, ['integrations', 'scheduling'], {}, checkout);
    const gateway = await startGateway(stack, services, {}, checkout);
    const groups = {
      gateway: [gateway.pid],
      scheduling: [services.running.scheduling.pid],
      PostgreSQL: [postgres],
      Kafka: [stack.pidOf('kafka') ?? 0],
      Redis: [stack.pidOf('redis') ?? 0],
    };
    const stop = async (): Promise<void> => {
      await gateway.stop();
      await Promise.all([services.stop('scheduling'), services.stop('integrations')]);
    };
    return { services, gateway, groups, stop, visits: () => readVisits(gateway, key) };
  };
  const besideUsual = async (): Promise<Record<string, number>> => {
    const { usual, before } = await measureBesideUsual({
      stack,
      company: COMPANY,
      key,
      rounds: Math.max(rounds, options.quick ? 1 : 5),
      seconds,
      start,
      before: options.before,
      write,
      postgres,
    });
    const than = before === undefined ? {} : { write_throughput_before: rounded(before.throughput), write_cpu_before: rounded(before.cpu) };
    return { write_throughput_usual: rounded(usual.throughput), write_cpu_usual: rounded(usual.cpu), ...than };
  };
  if (options.only === 'usual') return besideUsual();
  const system = await start();
  const { services, gateway, groups } = system;
  const http = async (duration: number) => write(gateway.port, await readVisits(gateway, key), duration);
  // Each run of the script is an addition and a removal.
  const pgbench = async (script: Script, mode: 'simple' | 'prepared', duration: number): Promise<Rate> => {
    const load = { databaseUrl: stack.databaseUrl, settings, script, mode, connections: CONNECTIONS, seconds: duration };
    return { perSecond: 2 * (await runPgbench(load, FOLDER)) };
  };

  const visitTargets = (name: string, of: string): string => {
    const file = join(FOLDER, name);
    const paths = Array.from({ length: VISITS }, (_, i) => `/v1/job-appointments/${idOf('visit', i + 1)}`);
    writeTargets(
      file,
      paths.map((path) => ({ path, header: ['Authorization', `Bearer ${of}`] })),
    );
    return file;
  };
  const reads = (duration: number) =>
    runLoad({ port: gateway.port, connections: CONNECTIONS, seconds: duration, file: visitTargets('visits.targets', key), seed: 1 });

  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  /** Measures once everything earlier is published. `alone` pauses scheduling, so that nothing is published during the run. */
  const measured = async (run: () => Promise<Rate>, alone: boolean) => {
    await drained(client, 'scheduling');
    if (alone) process.kill(services.running.scheduling.pid, 'SIGSTOP');
    try {
      return await withCpu(groups, run);
    } finally {
      if (alone) process.kill(services.running.scheduling.pid, 'SIGCONT');
    }
  };

  const noise = async (): Promise<Record<string, number>> => {
    const { ratio, unavailable, events } = await measureNoise({
      stack,
      gateway,
      scheduling: services.running.scheduling,
      floodKey: key,
      file: visitTargets('reader.targets', readerKey),
      rounds: Number(options.rounds ?? (options.quick ? 1 : 5)),
      seconds,
      groups: { ...groups, integrations: [services.running.integrations.pid] },
      settled: () => drained(client, 'scheduling'),
    });
    return { noisy_company_ratio: rounded(ratio), noisy_company_503: unavailable, noisy_company_events_per_second: Math.round(events) };
  };
  say('Warming up …');
  if (options.only === 'noise') {
    await reads(Math.min(5, seconds));
    return noise().finally(() => client.end());
  }
  await measured(() => http(Math.min(5, seconds)), false);
  await measured(() => pgbench(scripts.plain, 'prepared', 2), true);
  const kinds = {
    writes: () => http(seconds),
    reads: () => reads(seconds),
    simple: () => pgbench(scripts.plain, 'simple', seconds),
    prepared: () => pgbench(scripts.plain, 'prepared', seconds),
    pipelined: () => pgbench(scripts.pipelined, 'prepared', seconds),
  };
  const names = Object.keys(kinds) as (keyof typeof kinds)[];
  const rates = new Map(names.map((name) => [name, [] as number[]]));
  for (let round = 1; round <= rounds; round++) {
    for (const name of names) {
      const { result, cpu } = await measured(kinds[name], name !== 'writes' && name !== 'reads');
      rates.get(name)?.push(result.perSecond);
      const times = result.p50 === undefined ? '' : `p50 ${result.p50.toFixed(1)} ms, p99 ${result.p99?.toFixed(1)} ms, `;
      say(`round ${round}, ${TITLES[name]}: ${result.perSecond.toFixed(0)}/s (${times}CPU ms: ${cpuText(perEach(cpu, result.perSecond * seconds))})`);
    }
  }
  const beside = await noise();
  await client.end();
  await system.stop();
  Object.assign(beside, await besideUsual());
  const medians = Object.fromEntries(names.map((name) => [name, median(rates.get(name) ?? [])])) as Record<keyof typeof kinds, number>;
  process.stdout.write(`\n${CONNECTIONS} connections, medians of ${rounds} × ${seconds} s:\n`);
  for (const name of names) process.stdout.write(`${TITLES[name].padEnd(24)} ${medians[name].toFixed(0).padStart(6)}/s\n`);
  return {
    write_throughput: rounded(medians.writes / medians.prepared),
    write_throughput_pipelined: rounded(medians.writes / medians.pipelined),
    write_throughput_simple: rounded(medians.writes / medians.simple),
    writes_per_second: Math.round(medians.writes),
    pgbench_per_second: Math.round(medians.prepared),
    reads_per_second: Math.round(medians.reads),
    ...beside,
  };
}

/** Creates data and keys, and records the statements of one addition and one removal as the service sends them. */
async function prepare(stack: Stack): Promise<{ key: string; readerKey: string; scripts: { plain: Script; pipelined: Script }; settings: string }> {
  const url = new URL(stack.databaseUrl);
  const recorder = await startRecorder({ host: url.hostname, port: Number(url.port) });
  url.hostname = '127.0.0.1';
  url.port = String(recorder.port);
  const others = await startServices(stack, ['integrations']);
  const services = await startServices(stack, ['scheduling'], { DATABASE_URL: url.href });
  const operator = new Operator(others.running.integrations.port);
  const key = await prepareCompany(operator, services.channels);
  await operator.createCompany(READER);
  const readerKey = await new KeyFile(join(FOLDER, `${DATABASE}-keys.json`)).of(READER.id, operator);
  for (const file of visitFiles()) await importFile(services.channels, READER.id, file, () => undefined);

  const gateway = await startGateway(stack, { running: { ...others.running, ...services.running } });
  const visit = (await readVisits(gateway, key)).find(({ assignments }) => assignments.length === 0) as Visit;
  const number = Number(visit.id.replaceAll('-', '').slice(8));
  const technician = idOf('technician', 1);
  recorder.take();
  const idempotencyKeys = ['recorded-addition', 'recorded-removal'].map((name) => `${name}-${randomBytes(6).toString('hex')}`) as [string, string];
  const body = {
    expected_revision: visit.revision,
    appointment_id: visit.id,
    team_member_id: technician,
    starts_at: '2026-03-02T15:00:00Z',
    ends_at: '2026-03-02T16:00:00Z',
  };
  const added = await write(gateway, key, 'POST', '', body, idempotencyKeys[0]);
  const addition = recorder.take();
  const assignment = added.assignments[0]?.id as string;
  await write(gateway, key, 'DELETE', `/${assignment}`, { expected_revision: added.revision }, idempotencyKeys[1]);
  const removal = recorder.take();

  await gateway.stop();
  await services.stop('scheduling');
  await others.stop('integrations');
  recorder.close();
  const replaced = new Map([
    [visit.id, idInSql('visit', 'v')],
    [idOf('job', number), idInSql('job', 'v')],
    [technician, idInSql('technician', 'm')],
    [assignment, `('3' || lpad(:a::text, 31, '0'))::uuid`],
    [`/v1/job-assignments/${assignment}`, `('/v1/job-assignments/30000000-0000-4000-8000-' || lpad(:a::text, 12, '0'))`],
    [idempotencyKeys[0], `('addition-' || lpad(:k::text, 18, '0'))`],
    [idempotencyKeys[1], `('removal-' || lpad(:k::text, 18, '0'))`],
  ]);
  const most = 999_999_999_999_999;
  const head = `\\set v random(1, ${VISITS})\n\\set m random(1, ${TECHNICIANS})\n\\set a random(1, ${most})\n\\set k random(1, ${most})`;
  const script = (pipelines: boolean): Script => scriptOf([addition, removal], replaced, head, pipelines);
  return { key, readerKey, settings: recorder.settings(), scripts: { plain: script(false), pipelined: script(true) } };
}

async function write(gateway: Running, key: string, method: string, path: string, body: unknown, idempotencyKey: string): Promise<Visit> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': idempotencyKey };
  const response = await fetch(`http://127.0.0.1:${gateway.port}/v1/job-assignments${path}`, { method, headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`a write was refused: ${await response.text()}`);
  return ((await response.json()) as { data: Visit }).data;
}
