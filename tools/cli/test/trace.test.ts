import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { truckroll } from './system.ts';

const ID = '0d5e8c1a-7c0b-4f5e-9a41-2f6f7d3b8c55';
const OTHER = '11111111-7c0b-4f5e-9a41-2f6f7d3b8c55';
let folder: string;
let logs: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'truckroll-trace-'));
  logs = join(folder, '.truckroll', 'logs');
  mkdirSync(logs, { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

const line = (second: number, service: string, msg: string, more: object = {}): string =>
  `${JSON.stringify({ level: 'info', time: `2026-03-01T12:00:0${second}.000Z`, service, requestId: ID, traceId: ID.replaceAll('-', ''), ...more, msg })}\n`;

test('collects the lines of a request from all components and rotated logs, by time, and no others', async () => {
  writeFileSync(
    join(logs, 'gateway.log'),
    line(4, 'gateway', 'request', { status: 201 }) + line(5, 'gateway', 'another', { requestId: OTHER, traceId: OTHER, path: `/v1/jobs/${ID}` }),
  );
  writeFileSync(join(logs, 'scheduling.log.1'), `not JSON ${ID}\n${line(2, 'scheduling', 'served a call', { ms: 3.5 })}`);
  writeFileSync(
    join(logs, 'scheduling.log'),
    line(3, 'scheduling', 'went wrong', { error: { message: 'it failed', stack: 'at …', cause: { message: 'the disk is\u202efull' } } }),
  );
  writeFileSync(join(logs, 'kafka.log'), `[2026-03-01] ${ID}\n`);
  const { code, stdout } = await truckroll(['trace', ID.toUpperCase()], {}, folder);
  const rows = stdout.trimEnd().split('\n').slice(1);
  expect(code).toBe(0);
  expect(rows.map((row) => row.split(/ {2,}/).slice(1, 3))).toEqual([
    ['0', 'scheduling'],
    ['1,000', 'scheduling'],
    ['2,000', 'gateway'],
  ]);
  expect(rows[1]).toContain('error="it failed: the disk is\\u202efull"');
  const json = await truckroll(['trace', ID.replaceAll('-', ''), '--json'], {}, folder);
  expect((JSON.parse(json.stdout) as { lines: { msg: string }[] }).lines.map(({ msg }) => msg)).toEqual(['served a call', 'went wrong', 'request']);
});

test('explains an invalid request id, one without lines, and missing logs', async () => {
  expect(await truckroll(['trace', 'abc'], {}, folder)).toMatchObject({ code: 2, stderr: expect.stringContaining('give the X-Request-Id of an answer') });
  expect(await truckroll(['trace', OTHER], {}, folder)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('another installation, or older than the logs'),
  });
  rmSync(logs, { recursive: true });
  expect(await truckroll(['trace', OTHER], {}, folder)).toMatchObject({ code: 2, stderr: expect.stringContaining('run this where `npm start` runs') });
});
