import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolder } from '@truckroll/integrator-cli/copy/folder';
import { exportRecords } from '../src/export/records.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'truckroll-export-'))));
afterEach(() => rmSync(folder, { recursive: true }));

/** An unreliable API that serves three pages of invoices. `mood` may answer a request first. */
async function withApi<T>(
  mood: (turn: number) => { status: number; headers?: Record<string, string> } | undefined,
  use: (baseUrl: string, asked: string[]) => Promise<T>,
): Promise<T> {
  const asked: string[] = [];
  const listener: RequestListener = (request, response) => {
    const url = new URL(request.url ?? '', 'http://api');
    const turn = asked.push(`${url.searchParams.get('cursor') ?? 'first'} ${request.headers.authorization ?? ''}`) - 1;
    const answer = mood(turn);
    if (answer?.status === 0) return void request.socket.destroy();
    if (answer !== undefined) {
      response.writeHead(answer.status, answer.headers).end(JSON.stringify({ error: { message: 'No.', request_id: 'r1' } }));
      return;
    }
    const page = Number(url.searchParams.get('cursor') ?? '0');
    const data = page === 1 ? [] : [{ id: `${page}a`, name: 'Ñandú\u2028', cents: 9007199254740991 }, { id: `${page}b` }];
    response.end(JSON.stringify({ data, pagination: { next_cursor: page === 2 ? null : String(page + 1) } }));
  };
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const options = (baseUrl: string) => ({ baseUrl, apiKey: 'trk_x', signal: new AbortController().signal });

test('retries with the same cursor after a limit, a restart and a lost connection', async () => {
  const moods = [undefined, { status: 429, headers: { 'retry-after': '1' } }, { status: 503 }, { status: 0 }];
  await withApi(
    (turn) => moods[turn],
    async (baseUrl, asked) => {
      const counts: number[] = [];
      expect(await exportRecords(folder, 'invoices', options(baseUrl), (count) => counts.push(count))).toBe(4);
      expect(counts).toEqual([2, 2, 4]);
      expect(asked.map((line) => line.split(' ')[0])).toEqual(['first', '1', '1', '1', '1', '2']);
      expect(asked[0]).toBe('first Bearer trk_x');
    },
  );
  const lines = readFileSync(join(folder, 'invoices.ndjson'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  expect(lines).toEqual([
    { id: '0a', name: 'Ñandú\u2028', cents: 9007199254740991 },
    { id: '0b' },
    { id: '2a', name: 'Ñandú\u2028', cents: 9007199254740991 },
    { id: '2b' },
  ]);
});

test('leaves no file that looks complete if an export ends early', async () => {
  await withApi(
    (turn) => (turn === 1 ? { status: 400 } : undefined),
    async (baseUrl) => {
      const work = exportRecords(folder, 'invoices', options(baseUrl), () => undefined);
      await expect(work).rejects.toThrow('GET /v1/invoices was answered 400 (request r1): No.');
    },
  );
  expect(readdirSync(folder)).toEqual([]);
});

test('waits for its limit for longer than for an API that is unavailable, because the limit always ends', async () => {
  await withApi(
    (turn) => (turn < 2 ? { status: 429, headers: { 'retry-after': '1' } } : undefined),
    async (baseUrl) => {
      expect(await exportRecords(folder, 'invoices', { ...options(baseUrl), maxRetryMs: 300 }, () => undefined)).toBe(4);
    },
  );
});

test('waits until the date that Retry-After gives, and says for how long', async () => {
  await withApi(
    (turn) => (turn === 0 ? { status: 503, headers: { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() } } : undefined),
    async (baseUrl) => {
      const end = new AbortController();
      const reasons: string[] = [];
      const onWaiting = (reason: string) => (reasons.push(reason), end.abort());
      await expect(exportRecords(folder, 'invoices', { ...options(baseUrl), signal: end.signal, onWaiting }, () => undefined)).rejects.toThrow();
      expect(reasons).toEqual([expect.stringMatching(/^The API does not answer; waiting (3600|359\d) s\.$/)]);
    },
  );
});

test('fails at once for a rejected key or a fault of the API, and after a while for an API that stays unavailable', async () => {
  for (const status of [401, 500]) {
    await withApi(
      () => ({ status }),
      async (baseUrl, asked) => {
        await expect(exportRecords(folder, 'invoices', options(baseUrl), () => undefined)).rejects.toMatchObject({ exitCode: 1 });
        expect(asked).toHaveLength(1);
      },
    );
  }
  await withApi(
    () => ({ status: 503 }),
    async (baseUrl) => {
      const work = exportRecords(folder, 'invoices', { ...options(baseUrl), maxRetryMs: 300 }, () => undefined);
      await expect(work).rejects.toMatchObject({ exitCode: 3 });
    },
  );
});

test('explains a folder that cannot be created, and uses existing and nested ones', async () => {
  await expect(makeFolder('/proc/truckroll/export')).rejects.toMatchObject({
    exitCode: 3,
    message: expect.stringMatching(/^The folder cannot be written: .+choose another folder\.$/),
  });
  writeFileSync(join(folder, 'file'), '');
  await expect(makeFolder(join(folder, 'file'))).rejects.toThrow('it is a file');
  await expect(makeFolder(join(folder, 'file/below'))).rejects.toThrow('a part of it is a file');
  await makeFolder(join(folder, 'a/b/c'));
  await makeFolder(join(folder, 'a/b/c'));
  expect(readdirSync(join(folder, 'a/b'))).toEqual(['c']);
});
