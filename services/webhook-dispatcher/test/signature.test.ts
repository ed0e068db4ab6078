import { randomBytes, randomUUID } from 'node:crypto';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { signatureOf } from '../src/send/sign.ts';

const body = JSON.stringify({ type: 'service_request.created', data: { summary: 'Überlauf — 漏水 🚰' } });

function signed(secrets: readonly Buffer[], at = Math.floor(Date.now() / 1000)) {
  const id = randomUUID();
  return { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': signatureOf(secrets, id, at, Buffer.from(body)) };
}

/** The form in which an integrator has the secret. */
const textOf = (secret: Buffer) => `whsec_${secret.toString('base64')}`;

describe.each([
  ['standardwebhooks', StandardWebhook],
  ['svix', SvixWebhook],
] as const)('%s', (_, Webhook) => {
  test('accepts our signature', () => {
    const secret = randomBytes(32);
    expect(() => new Webhook(textOf(secret)).verify(body, signed([secret]))).not.toThrow();
  });

  test('accepts it with the old and the new secret during a rotation, and with no other', () => {
    const [former, latter] = [randomBytes(32), randomBytes(32)];
    const headers = signed([latter, former]);
    expect(headers['webhook-signature'].split(' ')).toHaveLength(2);
    for (const secret of [former, latter]) expect(() => new Webhook(textOf(secret)).verify(body, headers)).not.toThrow();
    expect(() => new Webhook(textOf(randomBytes(32))).verify(body, headers)).toThrow();
  });

  test('refuses a changed body, id or timestamp', () => {
    const secret = randomBytes(32);
    const headers = signed([secret]);
    const verifier = new Webhook(textOf(secret));
    expect(() => verifier.verify(`${body} `, headers)).toThrow();
    expect(() => verifier.verify(body, { ...headers, 'webhook-id': randomUUID() })).toThrow();
    expect(() => verifier.verify(body, { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) })).toThrow();
  });
});

test('signs with exactly the bytes of each secret, even if secrets share one buffer', () => {
  const memory = randomBytes(96);
  const parts = [0, 32, 64].map((start) => memory.subarray(start, start + 32));
  const [id, at] = [randomUUID(), 1_772_366_400];
  const expected = parts.map((secret) => new StandardWebhook(textOf(Buffer.from(secret))).sign(id, new Date(at * 1000), body));
  expect(signatureOf(parts, id, at, Buffer.from(body))).toBe(expected.join(' '));
});
