// A steady load during all disruptions, and the webhooks that its writes cause.
import assert from 'node:assert/strict';
import { untilInCluster, type Cluster } from './kubernetes.ts';
import { pod, SINK_PORT } from './pods.ts';
import { assignable, received, subscribe, truckroll, type Surroundings } from './uses.ts';

const RATE = 20;
const SINK = '/steady';
/** Events of a service request that was created and booked; each write adds one more. */
const BEFORE = 3;

interface Counted {
  readonly good: number;
  readonly written: number;
  /** Answers 503 with Retry-After. */
  readonly refused: number;
  /** Milliseconds to answers since the last disruption began, refusals included. */
  readonly latency: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly failures: readonly { readonly request: string; readonly startedAt: string; readonly reason: string }[];
}

export interface Traffic {
  /** Runs a disruption, waits until it has ended and every request after it was answered, and reports any failures. */
  during(what: string, work: () => Promise<void>): Promise<void>;
  /** Likewise, for a disruption during which requests may be refused with 503 and Retry-After. */
  refused(what: string, work: () => Promise<void>): Promise<void>;
  /** Checks that no request failed, and that every acknowledged write caused its webhook, in order. */
  end(): Promise<void>;
}

/** Writes to a visit that is booked for a service request: each changes the request's status, which publishes an event. */
export async function startTraffic(use: Surroundings, image: string): Promise<Traffic> {
  const { cluster, company, say } = use;
  const { visit, member } = await assignable(use);
  await subscribe(use, SINK, 'service_request.created', 'service_request.booked', 'service_request.status_changed');
  const { id: subject } = await truckroll(use, 'intake', 'request', '--company', company.company_id, '--channel', 'phone');
  await truckroll(use, 'intake', 'book', subject, '--job', visit.job.id, '--appointment', visit.id, '--company', company.company_id);
  await untilInCluster(
    `${BEFORE} webhooks of the request`,
    () => moves(cluster, subject),
    ({ length }) => length === BEFORE,
  );

  const environment = { URL: 'http://truckroll-gateway', KEY: company.api_key, RATE: String(RATE), VISIT: visit.id, MEMBER: member.id };
  await cluster.apply(pod('prober', image, 'prober.mjs', environment, SINK_PORT));
  await cluster.kubectl('wait', '--for=condition=Ready', 'pod/prober', '--timeout=60s');
  const counted = async (path = ''): Promise<Counted> => JSON.parse(await cluster.ask('prober', SINK_PORT, `/${path}`)) as Counted;
  const more = async (seconds: number): Promise<void> => {
    const { good } = await counted();
    await untilInCluster(`${seconds * RATE} more good answers than ${good}`, counted, (counts) => counts.good >= good + seconds * RATE);
  };
  await more(10);
  const { good, failures } = await counted();
  say(`${RATE} requests a second go on from here; of the first, ${good} were answered and ${failures.length} failed`);

  let allowed = 0;
  const disrupt = async (what: string, work: () => Promise<void>): Promise<number> => {
    const before = await counted('lap');
    await work();
    // Wait until draining pods have ended: their last clients still use them.
    await untilInCluster(
      'no pod that is ending',
      () => terminating(cluster),
      (isTerminating) => !isTerminating,
    );
    await more(5);
    const { good, refused, failures, latency } = await counted();
    const failed = failures.slice(before.failures.length);
    const counts = `${good - before.good} requests were answered, ${refused - before.refused} refused, ${failed.length} failed`;
    say(
      [
        `${what}: ${counts}; p50 ${latency.p50} ms, p99 ${latency.p99} ms, longest ${latency.max} ms`,
        ...failed.slice(0, 10).map((each) => JSON.stringify(each)),
      ].join('\n        '),
    );
    return refused - before.refused;
  };
  return {
    during: async (what, work) => void (await disrupt(what, work)),
    async refused(what, work) {
      const refused = await disrupt(what, work);
      assert.ok(refused > 0, `nothing was refused: ${what}`);
      allowed += refused;
    },
    async end() {
      const { good, written, refused, failures } = await counted('stop');
      const sequences = async (): Promise<number[]> => (await moves(cluster, subject)).map(({ sequence }) => sequence);
      const events = Array.from({ length: BEFORE + written }, (_, index) => index + 1);
      await untilInCluster(`${events.length} webhooks`, sequences, (seen) => new Set(seen).size >= events.length).catch(() => undefined);
      const came = await sequences();
      const firsts = [...new Set(came)];
      say(
        `${good} requests were answered, ${refused} refused, ${failures.length} failed; ${written} writes raised ${firsts.length - BEFORE} webhooks, ${came.length - firsts.length} came twice`,
      );
      assert.deepEqual(failures.slice(0, 5), []);
      assert.equal(refused, allowed, 'requests were refused although PostgreSQL was there');
      assert.deepEqual(firsts, events);
    },
  };
}

interface Move {
  readonly sequence: number;
}

async function moves(cluster: Cluster, subject: string): Promise<Move[]> {
  return (await received(cluster, SINK)).map(({ body }) => JSON.parse(body) as Move & { data: { id: string } }).filter(({ data }) => data.id === subject);
}

async function terminating(cluster: Cluster): Promise<boolean> {
  return (await cluster.kubectl('get', 'pods', '--output', 'jsonpath={.items[*].metadata.deletionTimestamp}')).trim() !== '';
}
