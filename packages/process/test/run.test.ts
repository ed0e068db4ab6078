import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const index = new URL('../src/index.ts', import.meta.url).href;
const config = `{ host: '127.0.0.1', port: 0, metricsPort: 0, logLevel: 'info', drainDelayMs: 0, drainMs: 1000 }`;
const front = `const front = { listen: async () => 0, setServing: () => {}, drain: async () => {} };`;

function main(code: string) {
  const source = `import { createComponent, env, readConfig, runService } from ${JSON.stringify(index)};\n${front}\n${code}`;
  const child = spawn(process.execPath, ['--no-warnings', '--input-type=module-typescript', '--eval', source], {
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const waiting: { text: string; resolve: () => void }[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    for (const { text, resolve } of waiting) if (line.includes(text)) resolve();
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const ended = new Promise<{ code: number | null; lines: string[]; errors: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, lines, errors }));
  });
  const saying = (text: string) =>
    new Promise<void>((resolve, reject) => {
      waiting.push({ text, resolve });
      void ended.then(({ code }) => reject(new Error(`ended with ${code} without saying ${text}: ${errors}`)));
    });
  return { child, ended, saying };
}

test.each(['SIGTERM', 'SIGINT'] as const)('%s stops a service in order, with exit code 0', async (signal) => {
  const { child, ended, saying } = main(`
    const part = { name: 'p', start: async () => {}, stop: async () => { console.log('part stopped'); } };
    await runService('trial', () => createComponent({ name: 'trial', config: ${config}, create: (kit) => (kit.background(part), front) }));`);
  await saying('serving');
  child.kill(signal);
  const { code, lines } = await ended;
  expect(code).toBe(0);
  expect(lines.at(-1)).toContain('"stopped"');
  expect(lines).toContain('part stopped');
});

test('a stop that hangs ends with exit code 1 when its time is over', async () => {
  const { child, ended, saying } = main(`
    const part = { name: 'p', start: async () => {}, stop: () => new Promise(() => {}) };
    const service = createComponent({ name: 'trial', config: ${config}, create: (kit) => (kit.background(part), front) });
    await runService('trial', () => ({ ...service, stopLimitMs: 100 }));`);
  await saying('serving');
  child.kill('SIGTERM');
  expect((await ended).code).toBe(1);
});

test('an invalid configuration is reported in plain lines, with exit code 1', async () => {
  const { ended } = main(`await runService('trial', () => { readConfig({ a: env.string('A'), b: env.port('B') }, {}); });`);
  expect(await ended).toMatchObject({
    code: 1,
    lines: [],
    errors: 'trial cannot start:\nA is missing: set it to a text\nB is missing: set it to a port number from 0 to 65535\n',
  });
});

test('an address that the machine does not have is reported with the name of its setting', async () => {
  const { ended } = main(`
    const missing = { ...${config}, host: '203.0.113.5' };
    await runService('trial', () => createComponent({ name: 'trial', config: missing, create: () => front }));`);
  const { code, errors } = await ended;
  expect([code, errors]).toEqual([
    1,
    expect.stringMatching(/^trial cannot start:\nHOST is 203\.0\.113\.5, and this machine has no such address: set HOST to /),
  ]);
});

test('a service that cannot start logs the reason and exits with code 1', async () => {
  const { ended } = main(`
    const part = { name: 'p', start: async () => { throw new Error('no luck'); }, stop: async () => {} };
    await runService('trial', () => createComponent({ name: 'trial', config: ${config}, create: (kit) => (kit.background(part), front) }));`);
  const { code, lines } = await ended;
  expect(code).toBe(1);
  expect(lines.some((line) => line.includes('starting failed') && line.includes('no luck'))).toBe(true);
});

test('a process reports its build in its metrics', async () => {
  const { child, ended, saying } = main(`
    process.env.TRUCKROLL_VERSION = '1.4.0';
    process.env.TRUCKROLL_COMMIT = 'abc1234';
    const service = createComponent({ name: 'trial', config: ${config}, create: () => front });
    await runService('trial', () => service);
    console.log((await service.metrics.render()).body.split('\\n').find((line) => line.startsWith('build_info')));`);
  await saying('build_info{version="1.4.0",commit="abc1234",component="trial"} 1');
  child.kill('SIGTERM');
  expect((await ended).code).toBe(0);
});
