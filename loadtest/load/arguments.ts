import { isIP } from 'node:net';
import { parseArgs } from 'node:util';
import { Problem } from '@truckroll/local-stack';
import { SCENARIO_NAMES, type ScenarioName } from '../k6/scenarios/index.ts';
import { TESTS, type TestName } from '../k6/workloads/plan.ts';
import { positive } from '../system/benchmark.ts';

/** What measures how much one core can handle. */
const STUDIES = {
  capacity: 'the highest rate of each operation that keeps its thresholds, until two searches agree',
  overload: 'twice that rate: what is still answered, what becomes of others, and how it ends',
  flood: 'what one company’s flood of twice that rate does to another company, the last part of overload',
} as const;
export type StudyName = keyof typeof STUDIES;

const what = [...Object.entries(TESTS).map(([name, { about }]) => [name, about] as const), ...Object.entries(STUDIES)];
const NAMES = what.map(([name]) => name);
export const HELP = `npm run load -- ${NAMES.join('|')} [--rate N] [--seconds N] [--only ${SCENARIO_NAMES.join(',')}]
                [--pinned] [--jobs N] [--i-may-load-this]

${what.map(([name, about]) => `  ${name.padEnd(11)} ${about}`).join('\n')}

Starts the whole system with limits that are never met, and companies that are empty, usual and huge (--jobs of them, 20,000), which are
kept in .truckroll/load; or asks BASE_URL with API_KEY, and with API_KEY_HUGE, API_KEY_EMPTY and USER_TOKEN where they are set. An address
that is not of this machine needs --i-may-load-this. --rate is requests a second of all operations together,
--pinned gives one core to k6 and another to the system. Results go to .truckroll/load/results. Exit code: 0 where every threshold of
loadtest/slo.json was kept, 1 where one was not, 2 where the run is void and says nothing.
`;

export interface Options {
  readonly what: TestName | StudyName;
  readonly rate: number | undefined;
  readonly seconds: number | undefined;
  readonly only: readonly ScenarioName[] | undefined;
  readonly pinned: boolean;
  readonly jobs: number;
  /** Undefined: start our own system. */
  readonly baseUrl: string | undefined;
}

/** Returns 'help' if --help is given. Throws Problem with what to do. */
export function readOptions(args: readonly string[], environment: Readonly<Record<string, string | undefined>>): Options | 'help' {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      rate: { type: 'string' },
      seconds: { type: 'string' },
      only: { type: 'string' },
      jobs: { type: 'string' },
      pinned: { type: 'boolean', default: false },
      'i-may-load-this': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return 'help';
  const [name = '', ...more] = positionals;
  if (!NAMES.includes(name) || more.length > 0) throw new Problem(`Say what to run: ${NAMES.join(', ')}. --help describes each.`);
  const only = values.only?.split(',');
  const known: readonly string[] = name === 'capacity' ? [...SCENARIO_NAMES, 'mixed'] : SCENARIO_NAMES;
  const unknown = only?.find((each) => !known.includes(each));
  if (unknown !== undefined) throw new Problem(`--only ${unknown} is no scenario: give some of ${known.join(', ')}.`);
  const baseUrl = environment['BASE_URL'];
  if (baseUrl !== undefined) checkTarget(baseUrl, values['i-may-load-this']);
  if (baseUrl !== undefined && (name in STUDIES || values.pinned)) {
    throw new Problem(`${name in STUDIES ? name : '--pinned'} needs a system of its own: leave BASE_URL out.`);
  }
  return {
    what: name as Options['what'],
    pinned: values.pinned || name in STUDIES,
    jobs: positive('jobs', values.jobs) ?? 20_000,
    rate: positive('rate', values.rate),
    seconds: positive('seconds', values.seconds),
    only: only as ScenarioName[] | undefined,
    baseUrl: baseUrl?.replace(/\/+$/, ''),
  };
}

/** Load looks like an attack, so an address outside this machine needs explicit permission. */
function checkTarget(baseUrl: string, allowed: boolean): void {
  if (!URL.canParse(baseUrl)) throw new Problem(`BASE_URL must be an address such as http://127.0.0.1:8080, not ${baseUrl}.`);
  if (!isLoopback(new URL(baseUrl).hostname) && !allowed) {
    throw new Problem(`BASE_URL ${baseUrl} is not of this machine: add --i-may-load-this where its owner agrees to being loaded.`);
  }
}

/** A host name can point anywhere, except the reserved name localhost. */
export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
