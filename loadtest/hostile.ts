// npm run bench:hostile: what hostile clients and receivers do to the reads of another company.
import { fork, type ChildProcess } from 'node:child_process';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { resource } from '@truckroll/contract';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { generateCompany } from '@truckroll/demo-company';
import { Problem, STATE, choosePort, say } from '@truckroll/local-stack';
import { companyId } from './data/companies.ts';
import { importFile } from './data/import.ts';
import { ATTACKS } from './hostile/attacks.ts';
import { steadyReads } from './hostile/steady-reads.ts';
import { latencyText, onSchedule, type Latency } from './measure/latency.ts';
import { rounded } from './measure/report.ts';
import { median } from './measure/rounds.ts';
import { runBenchmark } from './system/benchmark.ts';
import { Operator } from './system/operator.ts';
import { startGateway } from './system/programs.ts';
import type { Stack } from './system/stack.ts';
import { newRequest } from './webhooks/intake.ts';
import { startWebhooks } from './webhooks/system.ts';

const HELP = `npm run bench:hostile -- [--rounds 5] [--seconds 8] [--rate 100] [--only ATTACK] [--quick]

Reads lists of one company --rate times a second, without and beside each attack in turn: ${Object.keys(ATTACKS).join(', ')}.
hostile_p50_ratio and hostile_p99_ratio are latency beside the attack ÷ without it: the median of the rounds, of the worst attack. At most
1.5 and 3 are the targets. --quick runs one short round: for developing only.
`;
const PATH = '/v1/jobs?limit=20';
const RECORDS = { seed: 11, size: 'small', timezone: 'America/Chicago', until: '2026-06-30T18:00:00Z' } as const;
/** Time an attack runs before reads are measured, in ms. */
const BEGIN_MS = 1000;
/** Time after an attack in which the gateway closes the connections it left, in ms. */
const REST_MS = 2000;
/** Events a second to the hostile receiver: few, so that only its answers cost something. */
const EVENTS = 20;
const WARM_UP_SECONDS = 5;

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    rate: { type: 'string', default: '100' },
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

await runBenchmark({
  help: HELP,
  asked: options.help,
  database: 'truckroll_hostile',
  folder: join(STATE, 'benchmarks-hostile'),
  check() {
    if (process.platform !== 'linux') throw new Problem('bench:hostile attacks from a second loopback address, which Linux alone has.');
    if (options.only !== undefined && ATTACKS[options.only] === undefined) throw new Problem(`There is no attack ${options.only}: see --help.`);
  },
  run: benchmark,
});

async function benchmark(stack: Stack): Promise<Record<string, number>> {
  const rounds = Number(options.rounds ?? (options.quick ? 1 : 5));
  const seconds = Number(options.seconds ?? (options.quick ? 3 : 8));
  const receiverPort = await choosePort();
  const { services, create } = await startWebhooks(stack, { pid: process.pid, environment: { WEBHOOK_ALLOWED_TARGETS: `127.0.0.1:${receiverPort}` } });
  const gateway = await startGateway(stack, services, { MAX_CONNECTIONS_PER_ADDRESS: '1000', LOG_LEVEL: 'error' });
  const intake = services.channels.scheduling.client(IntakeServiceService);
  const reading = { id: companyId('hostile, reading'), name: 'Reading', timezone: RECORDS.timezone, files: [] };
  const hostile = { ...reading, id: companyId('hostile, attacking'), name: 'Attacking' };
  const operator = new Operator(services.running.integrations.port);
  for (const company of [reading, hostile]) await operator.createCompany(company);
  const hostileKey = await new Operator(services.running.integrations.port, []).createKey(hostile.id);
  for (const file of generateCompany(RECORDS)) {
    if (resource(file.path).owner === 'scheduling') await importFile(services.channels, reading.id, file, () => undefined);
  }
  const reads = { port: gateway.port, path: PATH, key: await operator.createKey(reading.id), rate: Number(options.rate), seconds };

  async function beside(name: string): Promise<Latency> {
    const isReceiver = name === 'receiver';
    const attack = startAttack(name, isReceiver ? receiverPort : gateway.port, hostileKey);
    try {
      await attack.ready;
      const events = isReceiver ? sendEvents() : undefined;
      await delay(BEGIN_MS);
      const latency = await steadyReads(reads);
      await events;
      if (attack.answers() === 0) throw new Problem(`the attack ${name} got no answer`);
      say(`  ${name}: ${attack.answers()} answers`);
      return latency;
    } finally {
      await attack.stop();
    }
  }

  /** Creates a new company each time, because the circuit of a failed endpoint stays open. */
  async function sendEvents(): Promise<void> {
    const [endpoint] = await create(1, [`http://127.0.0.1:${receiverPort}/hooks`]);
    await onSchedule(EVENTS, BEGIN_MS / 1000 + seconds, () => intake.recordServiceRequest(newRequest(endpoint?.companyId as string)));
  }

  say('Warming up …');
  await steadyReads({ ...reads, seconds: WARM_UP_SECONDS });
  const ratios = new Map<string, Latency[]>();
  for (let round = 1; round <= rounds; round++) {
    for (const name of options.only === undefined ? Object.keys(ATTACKS) : [options.only]) {
      const alone = await steadyReads(reads);
      const attacked = await beside(name);
      await delay(REST_MS);
      say(`round ${round}, beside ${name}: ${latencyText(attacked)}; without it ${latencyText(alone)}`);
      ratios.set(name, [...(ratios.get(name) ?? []), { p50: attacked.p50 / alone.p50, p99: attacked.p99 / alone.p99 }]);
    }
  }
  const figures: Record<string, number> = {};
  for (const quantile of ['p50', 'p99'] as const) {
    for (const [name, list] of ratios) figures[`${name}_${quantile}_ratio`] = rounded(median(list.map((ratio) => ratio[quantile])));
    figures[`hostile_${quantile}_ratio`] = Math.max(...[...ratios.keys()].map((name) => figures[`${name}_${quantile}_ratio`] as number));
  }
  return figures;
}

interface RunningAttack {
  readonly ready: Promise<void>;
  answers(): number;
  stop(): Promise<void>;
}

/** The attacker runs at low priority, because it would be on another machine. */
function startAttack(name: string, port: number, key: string): RunningAttack {
  const child: ChildProcess = fork(join(import.meta.dirname, 'hostile/attack-main.ts'), [name, String(port)], { env: { ...process.env, API_KEY: key } });
  setPriority(child.pid as number, 5);
  let answers = 0;
  const ready = new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Problem(`the attack ${name} ended with ${code}`)));
    child.on('message', (count: number) => {
      answers = count;
      resolve();
    });
  });
  return {
    ready,
    answers: () => answers,
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      if (child.exitCode === null && child.kill('SIGKILL')) await ended;
    },
  };
}
