// What all tests share: k6 as the client of the scenarios, and k6's metrics.
import exec from 'k6/execution';
import http from 'k6/http';
import { Counter, Rate, Trend } from 'k6/metrics';
import { sleep } from 'k6';
import { SCENARIOS, type ScenarioName } from './scenarios/index.ts';
import { discover, tidy, type Send } from './scenarios/world.ts';
import type { Answer, Ask, Client, Operation, World } from './scenarios/api.ts';
import { dueMs, executorOf, secondsOf } from './workloads/arrivals.ts';
import { TESTS, askedOf, planOf, type Plan, type Test, type TestName } from './workloads/plan.ts';
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
let plan: Plan = {};
let thorough = false;

function number(name: string): number | undefined {
  const text = __ENV[name];
  return text === undefined || text === '' ? undefined : Number(text);
}

/** Builds k6's options for TEST from RATE, DURATION (s), ONLY and SLOW_SECONDS, which sets the number of preallocated workers. */
function optionsOf(test: TestName): Record<string, unknown> {
  const settings: Test = TESTS[test];
  thorough = settings.thorough === true;
  const only = __ENV['ONLY']?.split(',') as ScenarioName[] | undefined;
  const has = { huge: __ENV['API_KEY_HUGE'], empty: __ENV['API_KEY_EMPTY'], userToken: __ENV['USER_TOKEN'] };
  plan = planOf({ test, rate: number('RATE'), seconds: number('DURATION'), only, has });
  const operations = Object.keys(askedOf(plan)) as Operation[];
  return {
    scenarios: Object.fromEntries(Object.entries(plan).map(([name, arrivals]) => [name, { ...executorOf(arrivals, number('SLOW_SECONDS')), exec: name }])),
    thresholds: {
      ...k6Thresholds(slo, operations, { times: !thorough, aborts: settings.aborts === true }),
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
}

export const options = optionsOf((__ENV['TEST'] ?? 'average') as TestName);

/** `took` is in milliseconds, from waiting for a connection to the last byte. */
function send({ method = 'GET', path, credential, body, idempotencyKey }: Ask) {
  const headers: Record<string, string> = { Authorization: `Bearer ${credential}`, Accept: 'application/json' };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (idempotencyKey !== undefined) headers['Idempotency-Key'] = idempotencyKey;
  const answer = http.request(method, base + path, body === undefined ? null : JSON.stringify(body), { headers, timeout: '30s' });
  const { blocked, connecting, tls_handshaking, duration } = answer.timings;
  const text = typeof answer.body === 'string' ? answer.body : '';
  return { status: answer.status, text, headers: answer.headers, took: blocked + connecting + tls_handshaking + duration };
}

/** Milliseconds by which this iteration started late; this waiting time counts as latency. */
function lateness(name: ScenarioName): number {
  const arrivals = plan[name];
  const due = arrivals && dueMs(arrivals, exec.scenario.iterationInTest);
  return due === undefined ? 0 : Math.max(0, Date.now() - exec.scenario.startTime - due);
}

export function clientOf(name: ScenarioName): Client {
  let late = lateness(name);
  const arrivals = plan[name];
  const part = arrivals === undefined ? 0 : (Date.now() - exec.scenario.startTime) / 1000 / secondsOf(arrivals);
  return {
    thorough,
    async ask(operation, ask): Promise<Answer> {
      const { status, text, headers, took } = send(ask);
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
      if (!good && thorough) console.error(`${operation}: ${ask.method ?? 'GET'} ${ask.path} answered ${status}: ${text.slice(0, 300)}`);
      late = 0;
      return { status, body: text, header: (wanted) => Object.entries(headers).find(([known]) => known.toLowerCase() === wanted)?.[1] };
    },
    wrong(operation, what) {
      wrong.add(1, { op: operation });
      console.error(`${operation}: ${what}`);
    },
    pause: async (seconds) => sleep(seconds),
  };
}

const outside: Send = async (ask) => {
  const { status, text } = send(ask);
  if (!ask.expect.includes(status)) throw new Error(`${ask.method ?? 'GET'} ${ask.path} answered ${status}: ${text.slice(0, 300)}`);
  return text;
};

export async function setup(): Promise<World> {
  const usual = __ENV['API_KEY'];
  if (usual === undefined) throw new Error('API_KEY is missing: the key of the company that is asked.');
  const { API_KEY_HUGE: huge, API_KEY_EMPTY: empty, USER_TOKEN: userToken } = __ENV;
  return discover(outside, { usual, huge, empty, userToken }, Date.now().toString(36));
}

export async function teardown(world: World): Promise<void> {
  if (plan.write !== undefined || plan.webhook !== undefined) console.log(`${await tidy(outside, world)} things that writes had left were removed`);
}

/** Writes the metrics as JSON to the file that SUMMARY names, or to standard output. */
export function handleSummary(data: unknown): Record<string, string> {
  return { [__ENV['SUMMARY'] ?? 'stdout']: `${JSON.stringify(data)}\n` };
}

const runs =
  (name: ScenarioName) =>
  (world: World): Promise<void> =>
    SCENARIOS[name].run(clientOf(name), world, { number: exec.scenario.iterationInTest, own });

// k6 finds a scenario's function by its name among the test's exports.
export const list = runs('list');
export const list_huge = runs('list_huge');
export const list_empty = runs('list_empty');
export const detail = runs('detail');
export const filter = runs('filter');
export const filter_huge = runs('filter_huge');
export const report = runs('report');
export const write = runs('write');
export const webhook = runs('webhook');
