// What is refused without asking anybody; that nothing refused is ever dialled is tested with the dispatcher (targets.test.ts).
import { TargetProblem, checkAddress, checkAllowedTargets, readTarget } from '../src/index.ts';

const policy = { allowHttp: false, allowedTargets: ['127.0.0.1:4567', '[::1]:4567'] };

test.each([
  ['https://hooks.example.com/in?x=1', { host: 'hooks.example.com', port: 443, isAddress: false }],
  ['https://93.184.215.14:8443', { host: '93.184.215.14', port: 8443, isAddress: true }],
  ['https://[2606:4700::1]/', { host: '2606:4700::1', port: 443, isAddress: true }],
  // What the operator has named exactly, in any notation.
  ['http://2130706433:4567/', { host: '127.0.0.1', port: 4567 }],
  ['http://localhost:4567/', { host: 'localhost' }],
])('%s is a target', (url, expected) => {
  expect(readTarget(url, policy)).toMatchObject(expected);
});

test.each([
  ['hooks.example.com', 'absolute URL'],
  ['ftp://example.com', 'absolute URL'],
  ['http://example.com', 'https://'],
  ['https://a:b@example.com', 'password'],
  ['https://example.com/#x', '#'],
  ['https://example.com:0', 'port'],
  ['https://127.0.0.1:4568', 'loopback'],
  ['https://[fd00::1]', 'private'],
  ['https://printer.local', 'its own network'],
])('%s is none, and the message says what to give', (url, message) => {
  expect(() => readTarget(url, policy)).toThrow(TargetProblem);
  expect(() => readTarget(url, policy)).toThrow(message);
});

test('a name that leads to an address which is not public is refused before that is dialled', () => {
  const target = readTarget('https://hooks.example.com', policy);
  expect(() => checkAddress(target, '93.184.215.14', policy)).not.toThrow();
  for (const address of ['10.0.0.1', '::ffff:8.8.8.8', 'fe80::1%lo', '127.1']) expect(() => checkAddress(target, address, policy)).toThrow('not public');
});

test('an operator allows exact addresses with ports only, in their usual spelling', () => {
  expect(() => checkAllowedTargets(policy.allowedTargets)).not.toThrow();
  for (const wrong of ['localhost:4567', '127.1:4567', '127.0.0.1', '::1:4567', '127.0.0.1:70000'])
    expect(() => checkAllowedTargets([wrong])).toThrow('WEBHOOK_ALLOWED_TARGETS');
});
