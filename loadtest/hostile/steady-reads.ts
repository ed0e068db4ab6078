import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { Problem } from '@truckroll/local-stack';

const CONNECTIONS = 8;

export interface SteadyReads {
  readonly port: number;
  readonly path: string;
  readonly key: string;
  /** Requests a second. */
  readonly rate: number;
  readonly seconds: number;
}

/** Milliseconds from the moment a request was due to the last byte of its answer. */
export interface Latency {
  readonly p50: number;
  readonly p99: number;
}

/** Throws Problem if an answer is not 200. */
export async function steadyReads({ port, path, key, rate, seconds }: SteadyReads): Promise<Latency> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const headers = { authorization: `Bearer ${key}` };
  const read = (due: number): Promise<number> =>
    new Promise((resolve, reject) => {
      get({ host: '127.0.0.1', port, path, headers, agent }, (response) => {
        if (response.statusCode !== 200) reject(new Problem(`a read of the other company was answered with ${response.statusCode}`));
        response.resume().once('end', () => resolve(performance.now() - due));
      }).once('error', reject);
    });
  const startedAt = performance.now();
  const reads: Promise<number>[] = [];
  for (let index = 0; index < rate * seconds; index++) {
    const due = startedAt + (index / rate) * 1000;
    const wait = due - performance.now();
    if (wait > 0) await delay(wait);
    const one = read(due);
    one.catch(() => undefined);
    reads.push(one);
  }
  const sorted = (await Promise.all(reads).finally(() => agent.destroy())).toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number;
  return { p50: at(0.5), p99: at(0.99) };
}
