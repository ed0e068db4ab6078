// One run: clients write while parts of the system are killed. When everything has settled, the results are checked.
import type { Say } from '@truckroll/local-stack';
import { until } from '@truckroll/testing/until';
import { Chance } from '../../../tools/cli/src/simulate/chance.ts';
import { injectFaults, type FaultCount, type Faults } from '../injector.ts';
import type { TestCompany } from '../../support/company.ts';
import type { Installation } from '../system/installation.ts';
import type { Running } from '../system/prepared.ts';
import { HANG } from '../wait.ts';
import { check, type Verdict } from './checker.ts';
import { violation } from './check/violations.ts';
import { runClient } from './clients.ts';
import { isAcknowledged, type Attempt } from './history.ts';
import { compareReadModels, observe, readVisits } from './observe.ts';
import type { Observed } from './observed.ts';
import { makeWorld } from './world.ts';

export interface WritesOptions {
  readonly seed: number;
  readonly writes: number;
  readonly clients: number;
  readonly visits: number;
  readonly thinkMs: number;
  /** Share of writes that request a message to the customer. After an interrupted send attempt, the run waits 45 s for its message. */
  readonly notify: number;
  readonly faults: Pick<Faults, 'rounds' | 'gapMs' | 'awayMs' | 'pauses' | 'atOnce'> & { readonly targets: readonly string[] };
  /** Time limit for read models to catch up, in ms. Default: 60 s. */
  readonly followMs?: number;
  readonly say: Say;
}

export interface WritesResult extends Verdict {
  readonly faults: Readonly<Record<string, FaultCount>>;
  readonly seconds: number;
  readonly history: readonly Attempt[];
  readonly observed: Observed;
}

const PROGRESS_MS = 10_000;
const LONGEST_MS = 900_000;

export async function runWrites(installation: Installation, options: WritesOptions): Promise<WritesResult> {
  const { seed, writes, clients, visits, thinkMs, notify, followMs = 60_000, say } = options;
  const startedAt = performance.now();
  const { company, visitIds, technicianIds } = await makeWorld(installation, { visits, technicians: 12 });
  const before = await readVisits(installation, company);
  const chance = new Chance(seed);
  const history: Attempt[] = [];
  const acknowledged = (): number => new Set(history.filter(isAcknowledged).map(({ key }) => key)).size;
  const progress = setInterval(() => say(`  ${history.length} requests sent, ${acknowledged()} writes acknowledged`), PROGRESS_MS);
  try {
    let injecting = true;
    let failed = false;
    const targets = installation.targets(options.faults.targets);
    const injected = injectFaults({ ...options.faults, targets, chance: new Chance(chance.next() * 2 ** 32), say: (line) => say(`  ${line}`) });
    injected.catch(() => (failed = true)).finally(() => (injecting = false));
    let enough = false;
    // Counted twice a second rather than per write, because the history is long.
    const counting = setInterval(() => (enough = acknowledged() >= writes), 500);
    const goesOn = (): boolean => !failed && performance.now() - startedAt < LONGEST_MS && (injecting || !enough);
    const { baseUrl } = installation;
    const one = (): Promise<void> =>
      runClient({ baseUrl, apiKey: company.apiKey, chance: new Chance(chance.next() * 2 ** 32), visitIds, technicianIds, history, goesOn, thinkMs, notify });
    await Promise.all(Array.from({ length: clients }, one));
    clearInterval(counting);
    const faults = await injected;
    if (acknowledged() < writes) throw new Error(`only ${acknowledged()} writes were acknowledged in ${LONGEST_MS / 1000} s`);
    say('  all clients have ended; waiting until all events are published …');
    const wrongReadModels = await settled(installation, company, followMs);
    const observed = await observe(installation, company, before, wrongReadModels);
    const verdict = check(history, observed);
    const accidents = installation.accidents.map((text) => violation('unexpected-end', text));
    return { ...verdict, violations: [...verdict.violations, ...accidents], faults, history, observed, seconds: (performance.now() - startedAt) / 1000 };
  } finally {
    clearInterval(progress);
  }
}

/** Resolves when nothing more will change, to the read models that are wrong by then. */
export async function settled(installation: Running, company: TestCompany, followMs: number): Promise<string[]> {
  const count = async (text: string): Promise<number> => (await installation.database.query<{ count: number }>({ text })).rows[0]!.count;
  const untilPublished = () => until('an empty outbox', async () => (await count('select count(*) from scheduling.outbox')) === 0, Boolean, HANG);
  await untilPublished();
  const unsent = `select count(*) from scheduling.notifications where status in ('QUEUED', 'ATTEMPTING')`;
  await until('the ends of all notifications', async () => (await count(unsent)) === 0, Boolean, HANG);
  await untilPublished();
  let wrong: string[] = [];
  const compared = async (): Promise<boolean> => {
    wrong = await compareReadModels(installation, company).catch((error: unknown) => [`they could not be compared: ${String(error)}`]);
    return wrong.length === 0;
  };
  // Read models that stay wrong are reported by the checker.
  await until('the read models to follow', compared, Boolean, { atMostMs: followMs }).catch(() => undefined);
  // A write that its client gave up may commit late.
  await untilPublished();
  return wrong;
}
