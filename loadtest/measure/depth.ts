import { Agent, get } from 'node:http';
import { median } from './rounds.ts';
import type { Target } from './wrk.ts';

const WARM_UP = 30;

/** Ratio of the medians, deep page ÷ first page; requests alternate on one connection. */
export async function pageDepth(port: number, first: Target, deep: Target, requests: number): Promise<{ ratio: number; firstMs: number; deepMs: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: { first: number[]; deep: number[] } = { first: [], deep: [] };
  try {
    for (let n = -WARM_UP; n < requests; n++) {
      const [firstMs, deepMs] = [await timed(agent, port, first), await timed(agent, port, deep)];
      if (n < 0) continue;
      times.first.push(firstMs);
      times.deep.push(deepMs);
    }
  } finally {
    agent.destroy();
  }
  const [firstMs, deepMs] = [median(times.first), median(times.deep)];
  return { ratio: deepMs / firstMs, firstMs, deepMs };
}

/** Milliseconds until the last byte. */
function timed(agent: Agent, port: number, { path, header: [name, value] }: Target): Promise<number> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const request = get({ agent, port, path, host: '127.0.0.1', headers: { [name]: value } }, (response) => {
      response.resume();
      response.once('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - startedAt);
        else reject(new Error(`${path} answered ${response.statusCode}`));
      });
    });
    request.once('error', reject);
  });
}
