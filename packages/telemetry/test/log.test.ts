import { spawnSync } from 'node:child_process';
import { createLog, onBehalfOf, silentLog } from '../src/index.ts';

function logged(write: (log: ReturnType<typeof createLog>) => void): Record<string, any>[] {
  const lines: string[] = [];
  write(createLog('test', 'info', { write: (line) => lines.push(line) }));
  return lines.map((line) => JSON.parse(line) as Record<string, any>);
}

test('credentials in a log line are redacted, at the top and one level down', () => {
  const secret = 'trk_1';
  const failed = Object.assign(new Error('no', { cause: new Error('deeper') }), { token: secret });
  const lines = logged((log) => {
    log.info({ token: secret, path: '/v1' }, 'one');
    for (const name of ['password', 'authorization', 'token', 'secret']) log.info({ [name]: secret, request: { [name]: secret, id: 7 } }, 'two');
    log.error({ error: failed }, 'three');
  });
  expect(JSON.stringify(lines)).not.toContain(secret);
  expect(lines).toMatchObject([
    { token: '[Redacted]', path: '/v1', msg: 'one' },
    ...['password', 'authorization', 'token', 'secret'].map((name) => ({ [name]: '[Redacted]', request: { [name]: '[Redacted]', id: 7 }, msg: 'two' })),
    { error: { type: 'Error', message: 'no', cause: { message: 'deeper' }, stack: expect.stringContaining('log.test.ts') }, msg: 'three' },
  ]);
  expect(failed.token).toBe(secret);
});

test('a line has its service, its level and the request that it was written for, unless it names another', () => {
  const request = { requestId: '6f1c1e52-9d1b-4c58-8a53-6a2f3f1f0c1a', traceparent: undefined };
  const traceId = '6f1c1e529d1b4c588a536a2f3f1f0c1a';
  const fields = Object.freeze({ n: 1 });
  const lines = logged((log) => {
    log.info(fields, 'of none');
    onBehalfOf(request, () => {
      log.warn({ n: 2 }, 'of the request');
      log.child({ part: 'p' }).error({ requestId: 'another' }, 'of another');
    });
    log.debug({}, 'below the level');
  });
  expect(lines).toEqual([
    { level: 'info', time: expect.stringMatching(/^\d{4}-.*Z$/), service: 'test', n: 1, msg: 'of none' },
    { level: 'warn', time: expect.any(String), service: 'test', n: 2, requestId: request.requestId, traceId, msg: 'of the request' },
    { level: 'error', time: expect.any(String), service: 'test', part: 'p', requestId: 'another', msg: 'of another' },
  ]);
  silentLog.error({}, 'never written');
});

test('every line is written when the process ends, however it ends', () => {
  const program = (end: string) => `import { createLog } from ${JSON.stringify(new URL('../src/log.ts', import.meta.url).href)};
    const log = createLog('test'); for (let n = 0; n < 500; n++) log.info({ n }, 'line'); ${end}`;
  for (const end of ['', 'process.exit(3);', 'throw new Error("over");']) {
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program(end)], { encoding: 'utf8' });
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { n: number }).n),
    ).toEqual(Array.from({ length: 500 }, (_, n) => n));
  }
});
