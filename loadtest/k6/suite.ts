// What all tests share: k6 as the client of the scenarios, and k6's metrics.
import exec from 'k6/execution';
import http from 'k6/http';
import { Counter, Rate, Trend } from 'k6/metrics';
import { sleep } from 'k6';
import { SCENARIOS, type ScenarioName } from './scenarios/index.ts';
import { discover, tidy, type Send } from './scenarios/world.ts';
import { headersOf, refusal, type Answer, type Ask, type Client, type Operation, type World } from './scenarios/api.ts';
import { dueMs, executorOf, secondsOf, type Arrivals } from './workloads/arrivals.ts';
import { TESTS, askedOf, planOf, type Test, type TestName } from './workloads/plan.ts';
import { k6Thresholds, type Slo } from './workloads/thresholds.ts';

/** Globals of k6. `open` works only while the script loads. */
declare const __ENV: Readonly<Record<string, string | undefined>>;
declare function open(path: string): string;

/** Milliseconds from a request's scheduled time to its last byte. */
const latency = new Trend('latency', true);
/** Latency in the first and in the last quarter of the test. */
const early = new Trend('latency_early', true);
const later = new Trend('latency_late', true);
const answered = new Counter('answered');
const errors = new Rate('errors');
/** Share of all requests that were shed: answered 429 or 503 with Retry-After. */
const shed = new Rate('shed');
const wrong = new Counter('wrong');

const slo = JSON.parse(open('../slo.json')) as Slo;
const base = __ENV['BASE_URL'] ?? 'http://127.0.0.1:8080';
const own: Record<string, string | undefined> = {};

function number(name: string): number | undefined {
  const text = __ENV[name];
  return text === undefined || text === '' ? undefined : Number(text);
}

const test = (__ENV['TEST'] ?? 'average') as TestName;
const { thorough = false, aborts = false }: Test = TESTS[test];
const only = __ENV['ONLY']?.split(',') as ScenarioName[] | undefined;
const { API_KEY_HUGE: huge, API_KEY_EMPTY: empty, USER_TOKEN: userToken } = __ENV;
const plan = planOf({ test, rate: number('RATE'), seconds: number('DURATION'), only, has: { huge, empty, userToken } });

export const options = {
  // SLOW_SECONDS sets the number of preallocated workers.
  scenarios: Object.fromEntries(Object.entries(plan).map(([name, arrivals]) => [name, executorOf(arrivals, number('SLOW_SECONDS'))])),
  thresholds: {
    ...k6Thresholds(slo, Object.keys(askedOf(plan)) as Operation[], { times: !thorough, aborts }),
    wrong: ['count==0'],
    ...(thorough ? {} : { dropped_iterations: ['count==0'] }),
  },
  summaryTrendStats: ['med', 'p(99)', 'max'],
  systemTags: [],
  setupTimeout: '120s',
  teardownTimeout: '120s',
  noCookiesReset: true,
  userAgent: 'truckroll-load',
};

/** `took` is in milliseconds, from waiting for a connection to the last byte. */
function send(ask: Ask) {
  const { method = 'GET', path, body } = ask;
  const answer = http.request(method, base + path, body === undefined ? null : JSON.stringify(body), { headers: headersOf(ask), timeout: '30s' });
  const { blocked, connecting, tls_handshaking, duration } = answer.timings;
  const text = typeof answer.body === 'string' ? answer.body : '';
  return { status: answer.status, body: text, headers: answer.headers, took: blocked + connecting + tls_handshaking + duration };
}

export function clientOf(name: ScenarioName): Client {
  const arrivals = plan[name] as Arrivals;
  const startedMs = Date.now() - exec.scenario.startTime;
  /** Milliseconds by which this iteration started late; this waiting time counts as latency. */
  let late = Math.max(0, startedMs - (dueMs(arrivals, exec.scenario.iterationInTest) ?? startedMs));
  const part = startedMs / 1000 / secondsOf(arrivals);
  return {
    thorough,
    async ask(operation, ask): Promise<Answer> {
      const { status, body, headers, took } = send(ask);
      const tags = { op: operation };
      const good = ask.expect.includes(status);
      answered.add(good ? 1 : 0, tags);
      errors.add(!good, tags);
      shed.add(!good && (status === 429 || status === 503) && headers['Retry-After'] !== undefined, tags);
      // A rejected request says nothing about latency.
      if (good) {
        latency.add(late + took, tags);
        if (part < 0.25) early.add(late + took);
        else if (part >= 0.75) later.add(late + took);
      }
      if (!good && thorough) console.error(`${operation}: ${refusal(ask, { status, body })}`);
      late = 0;
      return { status, body, header: (wanted) => Object.entries(headers).find(([known]) => known.toLowerCase() === wanted)?.[1] };
    },
    wrong(operation, what) {
      wrong.add(1, { op: operation });
      console.error(`${operation}: ${what}`);
    },
    pause: async (seconds) => sleep(seconds),
  };
}

const outside: Send = async (ask) => {
  const answer = send(ask);
  if (!ask.expect.includes(answer.status)) throw new Error(refusal(ask, answer));
  return answer.body;
};

export async function setup(): Promise<World> {
  const usual = __ENV['API_KEY'];
  if (usual === undefined) throw new Error('API_KEY is missing: the key of the company that is asked.');
  return discover(outside, { usual, huge, empty, userToken }, Date.now().toString(36));
}

export async function teardown(world: World): Promise<void> {
  if (plan.write !== undefined || plan.webhook !== undefined) console.log(`${await tidy(outside, world)} things that writes had left were removed`);
}

/** Writes the metrics as JSON to the file that SUMMARY names, or to standard output. */
export function handleSummary(data: unknown): Record<string, string> {
  return { [__ENV['SUMMARY'] ?? 'stdout']: `${JSON.stringify(data)}\n` };
}

/** One iteration of the scenario whose turn it is. */
export default function iterate(world: World): Promise<void> {
  const name = exec.scenario.name as ScenarioName;
  return SCENARIOS[name].run(clientOf(name), world, { number: exec.scenario.iterationInTest, own });
}
