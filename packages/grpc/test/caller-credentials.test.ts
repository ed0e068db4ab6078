import { hash } from 'node:crypto';
import { callers } from '@truckroll/contract';
import {
  acceptanceOf,
  callCredentialForm,
  entryByRpc,
  examine,
  newCallCredential,
  newOperatorCredential,
  parseCallCredential,
  parseCallerCredentials,
} from '../src/caller-credentials.ts';

const SECRET = 'abcdefghijklmnopqrstuvwxyz-_0123456789ABCDEF';
const secretOf = (length: number): string => SECRET.repeat(7).slice(0, length);

test('makes credentials of 256 random bits', () => {
  const [one, other] = [newCallCredential('gateway'), newCallCredential('gateway')];
  expect(one).toEqual({ caller: 'gateway', text: expect.stringMatching(/^gateway\.[A-Za-z0-9_-]{43}$/) });
  expect(one.text).not.toBe(other.text);
  expect(newOperatorCredential('ana')).toEqual({ caller: 'operator', text: expect.stringMatching(/^operator:ana\.[A-Za-z0-9_-]{43}$/) });
});

test('accepts a credential by the SHA-256 of its whole text', () => {
  const text = `operator:ana.${SECRET}`;
  expect(acceptanceOf({ caller: 'operator', text })).toBe(`operator:ana:${hash('sha256', text)}`);
});

test.each([
  ['billing', secretOf(32), 'billing'],
  ['billing', secretOf(256), 'billing'],
  ['operator', SECRET, 'operator'],
  ['operator:ana', SECRET, 'operator'],
  [`operator:0${'a'.repeat(62)}`, SECRET, 'operator'],
  ['operator:a_b-2', SECRET, 'operator'],
  ['webhook-dispatcher', `${'a'.repeat(31)}b`, 'webhook-dispatcher'],
])('parses the credential of %s with the secret %s', (bearer, secret, caller) => {
  expect(parseCallCredential(`${bearer}.${secret}`)).toEqual({ caller, text: `${bearer}.${secret}` });
});

test.each([
  '',
  SECRET,
  `.${SECRET}`,
  `billing.${secretOf(31)}`,
  `billing.${secretOf(257)}`,
  `billing.${'a'.repeat(32)}`,
  `billing.${SECRET}+`,
  ` billing.${SECRET}`,
  `stranger.${SECRET}`,
  `billing:ana.${SECRET}`,
  `operator:-ana.${SECRET}`,
  `operator:_ana.${SECRET}`,
  `operator:.${SECRET}`,
  `operator:${'a'.repeat(64)}.${SECRET}`,
])('parses no credential from %s', (text) => {
  expect(parseCallCredential(text)).toBeUndefined();
});

const A = 'a'.repeat(64);
const B = 'b'.repeat(64);

test('lists accepted digests by caller and person, skips callers of later releases, and spaces and empty entries', () => {
  const accepted = parseCallerCredentials(` gateway:${A} , gateway:${B},,operator:ana:${B}, later:${A}, billing:ana:${A} ,`)!;
  expect([...accepted].map(([bearer, digests]) => [bearer, digests.map((digest) => digest.toString('hex'))])).toEqual([
    ['gateway', [A, B]],
    ['operator:ana', [B]],
  ]);
});

test.each([
  '',
  ' , ',
  `later:${A}`,
  `billing:ana:${A}`,
  `gateway:${A},x`,
  `gateway:${A}0`,
  `gateway:${A.slice(1)}`,
  `xgateway:${A} y`,
  `gateway:${'A'.repeat(64)}`,
])('refuses the list of accepted credentials %j', (text) => {
  expect(parseCallerCredentials(text)).toBeUndefined();
});

const gateway = newCallCredential('gateway');
const next = newCallCredential('gateway');
const ana = newOperatorCredential('ana');
const accepted = parseCallerCredentials([gateway, next, ana].map(acceptanceOf).join())!;

test.each([
  ['the first of two', gateway.text, { claimed: 'gateway', proven: true }],
  ['the second of two', next.text, { claimed: 'gateway', proven: true }],
  ["an operator's", ana.text, { claimed: 'operator', name: 'ana', proven: true }],
  ['another secret', newCallCredential('gateway').text, { claimed: 'gateway', proven: false }],
  ['a person without an entry', newOperatorCredential('bo').text, { claimed: 'operator', name: 'bo', proven: false }],
  ['a component without an entry', newCallCredential('billing').text, { claimed: 'billing', proven: false }],
  ['an unknown caller', `stranger.${SECRET}`, { claimed: 'unknown', proven: false }],
  ['a component with a name', `gateway:ana.${SECRET}`, { claimed: 'unknown', proven: false }],
  ['a malformed name', `operator:-.${SECRET}`, { claimed: 'unknown', proven: false }],
  ['text around the caller', `x operator:ana y.${SECRET}`, { claimed: 'unknown', proven: false }],
  ['no credential', undefined, { claimed: 'unknown', proven: false }],
  ['an empty credential', '', { claimed: 'unknown', proven: false }],
])('examines %s', (_, entry, presented) => {
  expect(examine(entry, accepted)).toEqual(presented);
});

test('calls with the only credential, or without one', () => {
  expect(entryByRpc([])('/truckroll.integrations.v1.KeyAdminService/CreateKey')).toBeUndefined();
  expect(entryByRpc([gateway])('/truckroll.integrations.v1.KeyAdminService/CreateKey')).toBe(gateway.text);
});

test('of several credentials, calls with the first whose caller may call the rpc, or else with the first', () => {
  const entryOf = entryByRpc([gateway, next, ana]);
  expect(entryOf('/truckroll.integrations.v1.KeyAdminService/CreateKey')).toBe(ana.text);
  expect(entryOf('/truckroll.integrations.v1.IdentityService/ResolvePrincipal')).toBe(gateway.text);
  expect(entryOf('/nothing')).toBe(gateway.text);
});

test('describes the form of a credential', () => {
  expect(callCredentialForm('billing')).toMatch(/^billing, a dot, and/);
  expect(callCredentialForm()).toContain(`one of ${callers.join(', ')}, a dot`);
});
