import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import { VerificationError, verifyWebhook } from '../src/webhooks.ts';

const { spyOn } = jest;
const document = JSON.parse(readFileSync(new URL('../../../gateway/openapi.json', import.meta.url), 'utf8'));
const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const body = JSON.stringify({ id: 'e', type: 'webhook.test', note: 'Núñez ✓' });

function signed(secret = SECRET, at = new Date()): Record<string, string> {
  return { 'webhook-id': 'e', 'webhook-timestamp': String(Math.floor(at.getTime() / 1000)), 'webhook-signature': new Webhook(secret).sign('e', at, body) };
}

test('a webhook is verified from its text or its bytes, with any kind of headers object', () => {
  const upper = Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), [value]]));
  for (const headers of [signed(), new Headers(signed()), upper]) {
    for (const each of [body, new TextEncoder().encode(body)]) expect(verifyWebhook(SECRET, headers, each)).toEqual({ ...JSON.parse(body), test: true });
  }
  expect(verifyWebhook([OTHER, SECRET], signed(), body).type).toBe('webhook.test');
});

test.each([
  [{ type: 'webhook.test', data: { webhook_id: 'w' } }, true],
  [{ type: 'service_request.created', data: { number: 'SR-1', test: true } }, true],
  [{ type: 'service_request.created', data: { number: 'SR-1' } }, false],
  [{ type: 'service_request.created', data: { number: 'SR-1', test: 'true' } }, false],
])('the result shows whether %j is a test, whatever the unsigned header says', (event, test) => {
  const at = new Date();
  const text = JSON.stringify(event);
  const headers = { ...signed(SECRET, at), 'webhook-signature': new Webhook(SECRET).sign('e', at, text) };
  for (const each of [headers, { ...headers, 'webhook-test': 'true' }]) expect(verifyWebhook(SECRET, each, text).test).toBe(test);
});

test('a changed, old, unsigned or differently signed webhook is refused', () => {
  const hours = new Date(Date.now() - 3_600_000);
  const refused: [string | string[], Record<string, string>, string][] = [
    [SECRET, signed(), body.replace('test', 'tess')],
    [SECRET, signed(SECRET, hours), body],
    [SECRET, signed(OTHER), body],
    [SECRET, {}, body],
    [[], signed(), body],
  ];
  for (const args of refused) expect(() => verifyWebhook(...args)).toThrow(VerificationError);
});

test.each([
  ['secret', undefined, body],
  ['body', SECRET, JSON.parse(body)],
])('a %s that cannot be one is the mistake of the receiver', (name, secret, given) => {
  expect(() => verifyWebhook(secret as string, signed(), given)).toThrow(new RegExp(`^${name} must be `));
});

test.each([
  [-301, false],
  [-300, true],
  [300, true],
  [301, false],
])('a webhook signed %i s from now is accepted: %p', (seconds, accepted) => {
  const now = Date.parse('2026-03-01T12:00:00Z');
  const headers = signed(SECRET, new Date(now + seconds * 1000));
  const clock = spyOn(Date, 'now').mockReturnValue(now);
  const verify = () => verifyWebhook(SECRET, headers, body);
  if (accepted) expect(verify).not.toThrow();
  else expect(verify).toThrow(VerificationError);
  clock.mockRestore();
});

test('the event types are those in the API description', () => {
  const source = readFileSync(new URL('../src/webhooks.ts', import.meta.url), 'utf8');
  const bodies = Object.values<any>(document.webhooks).map(({ post }) => post.requestBody.content['application/json'].schema.$ref.split('/').at(-1));
  expect([...source.matchAll(/Schemas\['(\w+)'\]/g)].map(([, name]) => name).toSorted()).toEqual(bodies.toSorted());
});
