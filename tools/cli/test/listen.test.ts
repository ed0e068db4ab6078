import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { Webhook } from 'standardwebhooks';
import { run } from '../src/run.ts';

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const event = { id: randomUUID(), type: 'service_request.created', sequence: 1, data: { summary: 'AC not cooling' } };

function listen(...args: string[]) {
  return listenWith({}, ...args);
}

function listenWith(env: Record<string, string>, ...args: string[]) {
  const interruption = new AbortController();
  const output = { stdout: '', stderr: '' };
  let listening: (url: string) => void;
  const url = new Promise<string>((resolve) => (listening = resolve));
  const ended = run(['listen', '--port', '0', ...args], {
    env,
    cwd: '/',
    signal: interruption.signal,
    stdout: { write: (text) => (output.stdout += text) },
    stderr: {
      write: (text) => {
        output.stderr += text;
        const found = /http:\S+/.exec(output.stderr)?.[0];
        if (found !== undefined) listening(found);
      },
    },
  });
  return { url, ended, output, interrupt: () => interruption.abort() };
}

async function deliver(url: string, secret: string, body = JSON.stringify(event), signedBody = body): Promise<number> {
  const at = new Date();
  const headers = {
    'content-type': 'application/json',
    'webhook-id': event.id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(event.id, at, signedBody),
  };
  return (await fetch(url, { method: 'POST', headers, body })).status;
}

test('answers and prints a delivery with a valid signature', async () => {
  const secret = newSecret();
  const { url, ended, output } = listen('--secret', secret, '--count', '2');
  expect(await deliver(await url, secret)).toBe(204);
  expect(await deliver(await url, secret)).toBe(204);
  expect(await ended).toBe(0);
  expect(output.stdout).toMatch(/service_request\.created #1 {2}verified {2}→ 204\n/);
  expect(output.stdout).toContain('"summary": "AC not cooling"');
  expect(output.stdout.match(/came before/g)).toHaveLength(1);
});

test.each([
  ['a test', { ...event, data: { summary: 'AC not cooling', test: true } }, true],
  ['a real event', event, false],
])('prints the body of %s as it came, and beside it whether it is a test', async (_, sent, isTest) => {
  const secret = newSecret();
  for (const args of [[], ['--json']]) {
    const { url, ended, output } = listen('--secret', secret, '--count', '1', ...args);
    expect(await deliver(await url, secret, JSON.stringify(sent))).toBe(204);
    expect(await ended).toBe(0);
    if (args.length > 0) expect(JSON.parse(output.stdout)).toMatchObject({ test: isTest });
    else expect(output.stdout.includes('#1 (a test)  verified')).toBe(isTest);
    const printed = args.length > 0 ? JSON.parse(output.stdout).event : JSON.parse(output.stdout.slice(output.stdout.indexOf('{')));
    expect(printed).toEqual(sent);
  }
});

test('accepts both secrets of a rotation', async () => {
  const [latter, former] = [newSecret(), newSecret()];
  const { url, ended, output } = listenWith({ TRUCKROLL_WEBHOOK_SECRET: `${latter}, ${former}` }, '--count', '2');
  expect(await deliver(await url, former)).toBe(204);
  expect(await deliver(await url, latter)).toBe(204);
  expect(await ended).toBe(0);
  expect(output.stderr).not.toContain('deprecated');
});

test('answers 413 to a body above four mebibytes, and goes on', async () => {
  const secret = newSecret();
  const { url, ended } = listen('--secret', secret, '--count', '1');
  expect(await deliver(await url, secret, 'x'.repeat(6 * 1024 * 1024))).toBe(413);
  expect(await deliver(await url, secret)).toBe(204);
  expect(await ended).toBe(0);
});

test('answers 401 to a wrong signature, and ends with 1', async () => {
  const secret = newSecret();
  const { url, ended, output, interrupt } = listen('--json', '--secret', secret);
  expect(await deliver(await url, newSecret())).toBe(401);
  expect(await deliver(await url, secret, '{"type":"forged"}', '{}')).toBe(401);
  interrupt();
  expect(await ended).toBe(1);
  const lines = output.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines).toMatchObject([
    { verified: false, answer: 401, problem: expect.any(String) },
    { verified: false, answer: 401, bytes: 17 },
  ]);
});

test('prints nothing of an unverified body, with or without a secret, as text or as JSON', async () => {
  const body = '{"type":"forged","data":{"summary":"AC not \u001b[31mcooling"}}';
  for (const args of [['--secret', newSecret()], ['--secret', newSecret(), '--json'], [], ['--json']]) {
    const { url, ended, output } = listen(...args, '--count', '1');
    await deliver(await url, newSecret(), body);
    await ended;
    expect(output.stdout).not.toBe('');
    expect(output.stdout + output.stderr).not.toMatch(/forged|cooling|\u001b/);
  }
});

test('answers with the given status without a secret', async () => {
  const { url, ended, output } = listen('--status', '503', '--count', '1');
  expect(await deliver(await url, newSecret())).toBe(503);
  expect(await ended).toBe(0);
  expect(output.stdout).toMatch(/not verified: set TRUCKROLL_WEBHOOK_SECRET[^]*\d+ bytes, which are not shown/);
});

test('warns that a secret on the command line is visible to every process, and does not repeat it', async () => {
  const secret = newSecret();
  const { url, ended, output } = listen('--secret', secret, '--count', '1');
  expect(await deliver(await url, secret)).toBe(204);
  expect(await ended).toBe(0);
  expect(output.stderr).toMatch(/^--secret is deprecated, as every process of this machine can read it: set TRUCKROLL_WEBHOOK_SECRET/);
  expect(output.stderr).not.toContain(secret);
});

test('reports a port that is in use, and a malformed secret', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const taken = listen('--port', String((other.address() as AddressInfo).port));
  expect(await taken.ended).toBe(3);
  expect(taken.output.stderr).toContain('--port');
  other.close();
  expect(await listen('--secret', 'hunter2').ended).toBe(2);
});
