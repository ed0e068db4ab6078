// The gateway's answers, sampled once a second: k6's summary covers a whole run only.
import { setTimeout as delay } from 'node:timers/promises';

export interface Second {
  /** Seconds since the start. */
  readonly at: number;
  /** Answers a second. */
  readonly good: number;
  readonly refused: number;
  readonly failed: number;
}

export function watchGateway(metricsPort: number): { stop(): Promise<Second[]> } {
  const seconds: Second[] = [];
  const beganAt = performance.now();
  let stopped = false;
  const running = (async () => {
    for (let before = await countsOf(metricsPort); !stopped; ) {
      await delay(1000);
      const now = await countsOf(metricsPort);
      const span = (now.at - before.at) / 1000;
      const rate = (of: 'good' | 'refused' | 'failed'): number => (now[of] - before[of]) / span;
      seconds.push({ at: (now.at - beganAt) / 1000, good: rate('good'), refused: rate('refused'), failed: rate('failed') });
      before = now;
    }
  })();
  return {
    async stop() {
      stopped = true;
      await running;
      return seconds;
    },
  };
}

/** `at` is on the clock of `performance.now`. */
async function countsOf(metricsPort: number): Promise<ReturnType<typeof answersIn> & { readonly at: number }> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  return { at: performance.now(), ...answersIn(text) };
}

/** Sums the answers of all routes since the gateway started. Route templates contain braces too. */
export function answersIn(metrics: string): Record<'good' | 'refused' | 'failed', number> {
  const counts = { good: 0, refused: 0, failed: 0 };
  for (const [, status = '', count] of metrics.matchAll(/^http_server_request_duration_seconds_count\{.*http_response_status_code="(\d+)".*\} (\d+)$/gm)) {
    counts[/^[23]|^404$|^409$/.test(status) ? 'good' : status === '429' || status === '503' ? 'refused' : 'failed'] += Number(count);
  }
  return counts;
}
