// What the receiver answered to the test of an endpoint.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@truckroll/client';
import { NOWHERE } from './listen/inbox.ts';

/** Longer than a delivery may take: an attempt has 15 s, and may wait for others to the same receiver. */
const LONGEST_WAIT_MS = 30_000;
const BETWEEN_MS = 250;
const LONGEST_ANSWER = 200;

interface Endpoint {
  readonly id: string;
  readonly url: string;
}

interface Sent {
  readonly id: string;
  readonly eventId: string;
}

export interface TestResult {
  readonly outcome: Readonly<Record<string, unknown>>;
  readonly delivered: boolean;
}

/** No receiver answers for the endpoint of `listen`, whose program reads deliveries itself. */
const READ_BY_LISTEN =
  'this endpoint is of `truckroll listen`: while that runs, it reads the event within seconds, shows it, and sends it on. What the program answered stands there.';

/** Waits for the only attempt. If it takes too long, the outcome is that of a pending delivery. */
export async function testResult(client: Client, { id: endpoint, url }: Endpoint, { id, eventId }: Sent, signal: AbortSignal): Promise<TestResult> {
  if (url === NOWHERE) return { outcome: { id, eventId, status: 'waiting', reason: READ_BY_LISTEN }, delivered: true };
  const until = performance.now() + LONGEST_WAIT_MS;
  for (;;) {
    const { status, attempts } = (await client.webhooks.deliveries.get(endpoint, id, { signal })).data;
    const attempt = attempts.at(-1);
    if (attempt !== undefined) return { outcome: { id, eventId, status, ...answerOf(attempt) }, delivered: attempt.succeeded };
    if (status !== 'pending' || performance.now() > until) {
      return { outcome: { id, eventId, status, reason: `no attempt within ${LONGEST_WAIT_MS / 1000} s: see the endpoint in the console` }, delivered: false };
    }
    await sleep(BETWEEN_MS, undefined, { signal });
  }
}

type Attempt = Awaited<ReturnType<Client['webhooks']['deliveries']['get']>>['data']['attempts'][number];

function answerOf({ startedAt, endedAt, response, errorMessage }: Attempt): Record<string, unknown> {
  return {
    httpStatus: response?.status ?? null,
    milliseconds: Date.parse(endedAt) - Date.parse(startedAt),
    answer: response === null ? null : [...response.body].slice(0, LONGEST_ANSWER).join(''),
    reason: errorMessage,
  };
}
