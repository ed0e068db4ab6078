import { get } from 'node:http';

const TIMEOUT_MS = 2500;

/** True when the address answers 200. Never rejects: a process that does not listen yet is not ready. */
export function isReady(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { timeout: TIMEOUT_MS, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.once('timeout', () => request.destroy());
    request.once('error', () => resolve(false));
  });
}
