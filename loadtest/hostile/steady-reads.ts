import { Agent, get } from 'node:http';
import { Problem } from '@truckroll/local-stack';
import { latencyOf, onSchedule, type Latency } from '../measure/latency.ts';

const CONNECTIONS = 8;

export interface SteadyReads {
  readonly port: number;
  readonly path: string;
  readonly key: string;
  /** Requests a second. */
  readonly rate: number;
  readonly seconds: number;
}

/** Latency from the moment a request was due to the last byte of its answer. Throws Problem if an answer is not 200. */
export async function steadyReads({ port, path, key, rate, seconds }: SteadyReads): Promise<Latency> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const read = (_: number, due: number): Promise<number> =>
    new Promise((resolve, reject) => {
      get({ host: '127.0.0.1', port, path, headers: { authorization: `Bearer ${key}` }, agent }, (response) => {
        if (response.statusCode !== 200) reject(new Problem(`a read of the other company was answered with ${response.statusCode}`));
        response.resume().once('end', () => resolve(performance.now() - due));
      }).once('error', reject);
    });
  return latencyOf(await onSchedule(rate, seconds, read).finally(() => agent.destroy()));
}
