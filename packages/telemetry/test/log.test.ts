import { spawnSync } from 'node:child_process';
import { createLog } from '../src/index.ts';

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
