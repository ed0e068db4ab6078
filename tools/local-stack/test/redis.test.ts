import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Problem } from '../src/problem.ts';
import { startRedis } from '../src/servers/redis.ts';
import { Scratch } from './support.ts';

const scratch = new Scratch();
afterAll(() => scratch.end());

function ask(port: number, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${command}\r\n`));
    socket
      .setEncoding('utf8')
      .once('data', (answer: string) => resolve(answer.trim()))
      .once('error', reject);
    socket.once('data', () => socket.destroy());
  });
}

test('data survives a stop, at the same address', async () => {
  const context = { ...scratch.context(), careless: false };
  const first = await startRedis(context);
  expect(await ask(first.port, 'SET name truckroll')).toBe('+OK');
  await first.daemon.stop();
  const second = await startRedis(context);
  expect(second.url).toBe(first.url);
  expect(await ask(second.port, 'GET name')).toBe('$9\r\ntruckroll');
});

test('reports a damaged data folder in one sentence that says what to do', async () => {
  const context = scratch.context();
  await (await startRedis(context)).daemon.stop();
  writeFileSync(join(context.folder, 'redis/dump.rdb'), 'REDIS0010 and then nothing that makes sense');
  const error = await startRedis(context).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Problem);
  expect((error as Problem).message).toMatch(/^Redis cannot use its data folder [^\n]*delete it to begin with empty caches[^\n]*\.$/);
});

test('reports in one sentence where to get Redis when it is missing', async () => {
  const path = process.env['PATH'];
  process.env['PATH'] = scratch.folder();
  try {
    await expect(startRedis(scratch.context())).rejects.toThrow(/^Redis is missing: install it [^\n]*, or name your own server in REDIS_URL\.$/);
  } finally {
    process.env['PATH'] = path;
  }
});
