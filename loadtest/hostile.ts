// npm run bench:hostile: what hostile clients and receivers do to the reads of another company.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { Problem, STATE, choosePort, say, tokenIssuer } from '@truckroll/local-stack';
import { emptyCompany } from './data/companies.ts';
import { importCompany } from './data/import.ts';
import { ATTACKS } from './hostile/attacks.ts';
import { latencyOf, latencyText, onSchedule, type Latency } from './measure/latency.ts';
import { withPeakMemory, type Measured } from './measure/memory.ts';
import { rounded } from './measure/report.ts';
import { inTurn, medianRatio } from './measure/turns.ts';
import { runBenchmark, type BenchmarkOptions, type Figures } from './system/benchmark.ts';
import { startGateway } from './system/programs.ts';
import type { Stack } from './system/stack.ts';
import { newRequest } from './webhooks/intake.ts';
import { startWebhooks } from './webhooks/system.ts';

const HELP = `npm run bench:hostile -- [--rounds 5] [--seconds 8] [--rate 100] [--only ATTACK] [--quick]

Reads lists of one company --rate times a second, without and beside each attack in turn: ${Object.keys(ATTACKS).join(', ')}.
hostile_p50_ratio and hostile_p99_ratio are latency beside the attack ÷ without it: the median of the rounds, of the worst attack.
hostile_memory_ratio is a process's peak of memory beside an attack ÷ its memory when the attack began, of the worst process, round and
attack. At most 1.5, 3 and 1.25 are the targets. --quick runs one short round: for developing only.
`;
const QUANTILES = ['p50', 'p99'] as const;
const PATH = '/v1/jobs?limit=20';
const CONNECTIONS = 8;
/** Time an attack runs before reads are measured, in ms. */
const BEGIN_MS = 1000;
/** Time after an attack in which the gateway closes the connections it left, in ms. */
const REST_MS = 2000;
/** Events a second to the hostile receiver: few, so that only its answers cost something. */
const EVENTS = 20;
const WARM_UP_SECONDS = 5;

await runBenchmark({
  help: HELP,
  numbers: { rounds: [5, 1], seconds: [8, 3], rate: 100 },
  parts: Object.keys(ATTACKS),
  // Attacks come from a second loopback address, which Linux alone has.
  linuxOnly: true,
  database: () => 'truckroll_hostile',
  run: benchmark,
});

async function benchmark(stack: Stack, { rounds, seconds, rate, only }: BenchmarkOptions<'rounds' | 'seconds' | 'rate', string>): Promise<Figures> {
  const receiverPort = await choosePort();
  const { services, dispatcher, create } = await startWebhooks(stack, {
    pid: process.pid,
    environment: { WEBHOOK_ALLOWED_TARGETS: `127.0.0.1:${receiverPort}` },
  });
  const { issuer, audience, jwksFile } = tokenIssuer(STATE);
  const tokens = { TOKEN_ISSUER: issuer, TOKEN_AUDIENCE: audience, TOKEN_JWKS_FILE: jwksFile };
  const gateway = await startGateway(stack, services, { MAX_CONNECTIONS_PER_ADDRESS: '1000', LOG_LEVEL: 'error', ...tokens });
  const intake = services.channels.scheduling.client(IntakeServiceService);
  const [reading, hostile] = [emptyCompany('hostile, reading'), emptyCompany('hostile, attacking')];
  const { operator } = services;
  for (const company of [reading, hostile]) await operator.createCompany(company);
  const credentials = { API_KEY: await operator.createKey(hostile.id, []), USER_TOKEN: await operator.token(hostile.id) };
  for (const { id } of [reading, hostile]) await importCompany(services.channels, id, { seed: 11, size: 'small' }, ['scheduling']);
  const reads = { port: gateway.port, key: await operator.createKey(reading.id), rate, seconds };

  const pids = Object.fromEntries(Object.entries({ ...services.running, gateway, dispatcher }).map(([name, { pid }]) => [name, pid]));

  async function beside(name: string): Promise<Latency> {
    const isReceiver = name === 'receiver';
    const attack = await startAttack(name, isReceiver ? receiverPort : gateway.port, credentials);
    try {
      const events = isReceiver ? sendEvents() : undefined;
      await delay(BEGIN_MS);
      const latency = await steadyReads(reads);
      await events;
      if (attack.answers() === 0) throw new Problem(`the attack ${name} got no answer`);
      say(`  ${name}: ${attack.answers()} answers`);
      return latency;
    } finally {
      await attack.stop();
      await delay(REST_MS);
    }
  }

  /** Creates a new company each time, because the circuit of a failed endpoint stays open. */
  async function sendEvents(): Promise<void> {
    const [endpoint] = await create(1, [`http://127.0.0.1:${receiverPort}/hooks`]);
    await onSchedule(EVENTS, BEGIN_MS / 1000 + seconds, () => intake.recordServiceRequest(newRequest(endpoint?.companyId as string)));
  }

  say('Warming up …');
  await steadyReads({ ...reads, seconds: WARM_UP_SECONDS });
  const figures: Figures = {};
  for (const name of only === undefined ? Object.keys(ATTACKS) : [only]) {
    const { alone, attacked } = await inTurn(rounds, {
      alone: () => withPeakMemory(pids, () => steadyReads(reads)),
      attacked: () => withPeakMemory(pids, () => beside(name)),
    });
    for (const round of alone.keys()) say(`beside ${name}: ${roundText(attacked[round]!)}; without it ${roundText(alone[round]!)}`);
    const ratios = {
      ...Object.fromEntries(QUANTILES.map((quantile) => [quantile, medianRatio(attacked, alone, ({ result }) => result[quantile])])),
      memory: Math.max(...attacked.flatMap(({ memory }) => Object.values(memory).map(({ start, peak }) => peak / start))),
    };
    for (const [what, ratio] of Object.entries(ratios)) {
      figures[`${name}_${what}_ratio`] = rounded(ratio);
      figures[`hostile_${what}_ratio`] = Math.max(rounded(ratio), figures[`hostile_${what}_ratio`] ?? 0);
    }
  }
  return figures;
}

function roundText({ result, memory }: Measured<Latency>): string {
  const grown = Object.entries(memory).map(([process, { start, peak }]) => `${process} ${start.toFixed(0)} to ${peak.toFixed(0)}`);
  return `${latencyText(result)}, MB ${grown.join(', ')}`;
}

/** The attacker runs at low priority, because it would be on another machine. */
async function startAttack(name: string, port: number, credentials: Readonly<Record<string, string>>) {
  const child = fork(join(import.meta.dirname, 'hostile/attack-main.ts'), [name, String(port)], { env: { ...process.env, ...credentials } });
  setPriority(child.pid as number, 5);
  let answers = 0;
  child.on('message', (count: number) => (answers = count));
  const ended = once(child, 'exit');
  const failed = ended.then(([code]) => Promise.reject(new Problem(`the attack ${name} ended with ${code}`)));
  await Promise.race([once(child, 'message'), failed]);
  return {
    answers: () => answers,
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Latency from the moment a request was due to the last byte of its answer. Throws Problem if an answer is not 200. */
async function steadyReads({ port, key, rate, seconds }: { port: number; key: string; rate: number; seconds: number }): Promise<Latency> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const read = (_: number, due: number): Promise<number> =>
    new Promise((resolve, reject) => {
      get({ host: '127.0.0.1', port, path: PATH, headers: { authorization: `Bearer ${key}` }, agent }, (response) => {
        if (response.statusCode !== 200) reject(new Problem(`a read of the other company was answered with ${response.statusCode}`));
        response.resume().once('end', () => resolve(performance.now() - due));
      }).once('error', reject);
    });
  return latencyOf(await onSchedule(rate, seconds, read).finally(() => agent.destroy()));
}
