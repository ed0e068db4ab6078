import { get } from 'node:http';

const TIMEOUT_MS = 2500;

/** True when the address answers 200. Never rejects: a process that does not listen yet is not ready. */
export async function isReady(url: string): Promise<boolean> {
  return (await read(url))?.status === 200;
}

/** The answer, or undefined when there is none. Never rejects. */
export function read(url: string, headers: Readonly<Record<string, string>> = {}): Promise<{ status: number | undefined; body: string } | undefined> {
  return new Promise((resolve) => {
    const request = get(url, { timeout: TIMEOUT_MS, agent: false, headers }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.once('end', () => resolve({ status: response.statusCode, body })).once('error', () => resolve(undefined));
    });
    request.once('timeout', () => request.destroy());
    request.once('error', () => resolve(undefined));
  });
}
