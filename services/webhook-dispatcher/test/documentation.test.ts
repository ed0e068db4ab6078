// Runs the receivers printed in docs/how-to/verify-webhooks.md.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { choosePort } from '@truckroll/local-stack';
import { until } from '@truckroll/testing/until';
import { signatureOf } from '../src/send/sign.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/how-to/verify-webhooks.md'), 'utf8');
const secret = randomBytes(32);

function block(language: string): string {
  const found = new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(page)?.[1];
  if (found === undefined) throw new Error(`the page shows nothing in ${language}`);
  return found;
}

function post(port: number, body: string, change: Record<string, string> = {}): Promise<Response> {
  const [id, at] = [randomUUID(), Math.floor(Date.now() / 1000)];
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': `v1,${randomBytes(32).toString('base64')} ${signatureOf([secret], id, at, Buffer.from(body))}`,
    ...change,
  };
  return fetch(`http://127.0.0.1:${port}/hooks`, { method: 'POST', headers, body });
}

/** Status of the answer to a request without a body, whose head has this line too. */
async function statusOf(port: number, line: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`POST /hooks HTTP/1.1\r\nHost: receiver\r\nContent-Type: application/json\r\n${line}\r\n`);
  const [answer] = await once(socket, 'data');
  socket.destroy();
  return String(answer).slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length);
}

/** Python is skipped on machines without it. */
const receivers = [
  ['js', 'receiver.mjs', process.execPath],
  ['python', 'receiver.py', 'python3'],
].filter(([, , program]) => spawnSync(program!, ['--version']).status === 0) as [string, string, string][];

test.each(receivers)('accepts our deliveries and refuses everything else with the receiver in %s', async (language, file, program) => {
  const folder = mkdtempSync(join(tmpdir(), 'truckroll-receiver-'));
  symlinkSync(join(import.meta.dirname, '../node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, file), block(language));
  const port = await choosePort();
  const env = { PATH: process.env['PATH'], PORT: String(port), TRUCKROLL_WEBHOOK_SECRET: `whsec_${secret.toString('base64')}` };
  const child = spawn(program, [join(folder, file)], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  try {
    const body = JSON.stringify({ id: randomUUID(), type: 'interaction.completed', data: { id: randomUUID(), summary: 'Ünïcode' } });
    const said = once(child.stdout, 'data');
    const answer = await until(
      'the receiver to listen, or to end',
      () => post(port, body).catch(() => undefined),
      (answered) => answered !== undefined || child.exitCode !== null,
    );
    expect(answer?.status).toBe(204);
    expect(String((await said)[0])).toContain('interaction.completed');
    const typed = JSON.stringify({ id: randomUUID(), type: 'interaction.completed', data: { summary: 'made up', test: true } });
    const marked = once(child.stdout, 'data');
    expect((await post(port, typed)).status).toBe(204);
    expect(String((await marked)[0])).toMatch(/interaction\.completed .* is a test/);
    const trial = JSON.stringify({ id: randomUUID(), type: 'webhook.test', sequence: 1, data: { webhook_id: randomUUID(), message: 'A test.' } });
    expect((await post(port, trial)).status).toBe(204);
    expect(await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body }).then(({ status }) => status)).toBe(404);
    expect((await post(port, body, { 'webhook-id': randomUUID() })).status).toBe(401);
    expect((await post(port, body, { 'webhook-timestamp': '1700000000' })).status).toBe(401);
    expect((await post(port, body, { 'webhook-signature': 'v1,AAAA' })).status).toBe(401);
    // Express reads what is too long to its end before it answers.
    if (language === 'python') expect([await statusOf(port, ''), await statusOf(port, 'Content-Length: 4000001\r\n')]).toEqual(['411', '413']);
  } finally {
    child.kill();
    await ended;
    rmSync(folder, { recursive: true });
  }
});

test('uses the same address in the receivers and in the guide', () => {
  const guide = readFileSync(join(import.meta.dirname, '../../../docs/how-to/webhooks.md'), 'utf8');
  const [, port, path] = /"url": "http:\/\/127\.0\.0\.1:(\d+)(\/\w+)"/.exec(guide)!;
  for (const language of ['js', 'python']) expect([language, block(language).includes(port!), block(language).includes(path!)]).toEqual([language, true, true]);
});
