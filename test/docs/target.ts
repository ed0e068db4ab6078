import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Target {
  url: string;
  key: string;
  token: string;
}

/** From TRUCKROLL_URL, TRUCKROLL_API_KEY and TRUCKROLL_TOKEN, or else from the files of `npm start` in .truckroll. */
export function readTarget(root: string): Target {
  const { TRUCKROLL_URL: url, TRUCKROLL_API_KEY: key, TRUCKROLL_TOKEN: token } = process.env;
  if (url !== undefined && key !== undefined && token !== undefined) return { url, key, token };
  try {
    const { baseUrl, apiKey, userToken } = JSON.parse(readFileSync(join(root, '.truckroll/ready.json'), 'utf8')) as Record<string, string>;
    if (baseUrl && apiKey && userToken) return { url: baseUrl, key: apiKey, token: userToken };
  } catch {}
  throw new Error('No system runs here: start one by npm start, or set TRUCKROLL_URL, TRUCKROLL_API_KEY and TRUCKROLL_TOKEN.');
}

/** The `data` of an answer. */
export async function ask(target: Target, method: string, path: string, body?: object): Promise<any> {
  return (await answerOf(target, method, path, body)).data;
}

export async function answerOf({ url, key, token }: Target, method: string, path: string, body?: object): Promise<any> {
  const users = path.startsWith('/api/');
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${users ? token : key}`,
      'content-type': 'application/json',
      ...(method === 'GET' ? {} : { 'idempotency-key': crypto.randomUUID() }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return await response.json();
}
