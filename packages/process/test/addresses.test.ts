import { env, formatAddress, parseAddress, readConfig, type Setting } from '../src/index.ts';

/** The value that a setting reads, or undefined if it refuses the text. */
const read = <T>(setting: (name: string) => Setting<T>, text: string): T | undefined => {
  try {
    return readConfig({ value: setting('SOME_VARIABLE') }, { SOME_VARIABLE: text }).value;
  } catch (error) {
    expect((error as Error).message).toMatch(/^SOME_VARIABLE is invalid: it must be /);
    return undefined;
  }
};

test.each([
  ['kafka:9092', { host: 'kafka', port: 9092 }],
  ['kafka-0.kafka.svc.cluster.local.:1', { host: 'kafka-0.kafka.svc.cluster.local.', port: 1 }],
  ['my_broker:65535', { host: 'my_broker', port: 65_535 }],
  ['10.0.0.1:9092', { host: '10.0.0.1', port: 9092 }],
  ['[2001:db8::1]:9092', { host: '2001:db8::1', port: 9092 }],
  ['[::1]:9092', { host: '::1', port: 9092 }],
  ['kafka', undefined],
  ['kafka:', undefined],
  ['kafka:port', undefined],
  ['kafka:0', undefined],
  ['kafka:99999', undefined],
  ['kafka:9092/path', undefined],
  [':9092', undefined],
  ['PLAINTEXT://kafka:9092', undefined],
  ['2001:db8::1:9092', undefined],
  ['[kafka]:9092', undefined],
  ['[::1', undefined],
  ['10.0.0.256:9092', undefined],
  ['user@kafka:9092', undefined],
  ['-kafka:9092', undefined],
  ['kafka-.svc:9092', undefined],
  ['kafka..svc:9092', undefined],
  ['kafka.svc..:9092', undefined],
  ['.kafka:9092', undefined],
  [`${'k'.repeat(63)}.svc:9092`, { host: `${'k'.repeat(63)}.svc`, port: 9092 }],
  [`${'k'.repeat(64)}.svc:9092`, undefined],
  [`${'kafka1.'.repeat(36)}s:9092`, { host: `${'kafka1.'.repeat(36)}s`, port: 9092 }],
  [`${'kafka1.'.repeat(36)}sv:9092`, undefined],
  ['two words:9092', undefined],
])('reads the address %p as %p', (text, address) => {
  expect(parseAddress(text)).toEqual(address);
  if (address !== undefined) expect(formatAddress(address.host, address.port)).toBe(text);
  expect(read(env.address, text)).toBe(address && text);
});

test('the address of a service may be a gRPC target, a broker’s may not', () => {
  const target = 'ipv4:127.0.0.1:50051,127.0.0.1:50052';
  expect(read(env.address, target)).toBe(target);
  expect(read(env.addresses, target)).toBeUndefined();
});

test('an address has the default port if it names none', () => {
  expect(['a', '[::1]', 'a:1', 'a:'].map((text) => parseAddress(text, 6379)?.port)).toEqual([6379, 6379, 1, undefined]);
});

test.each([
  ['a:1, [::1]:2', ['a:1', '[::1]:2']],
  ['kafka:9092,,b:9092', undefined],
  ['kafka:9092,', undefined],
  ['kafka:9092,b', undefined],
])('reads the list of addresses %p as %p', (text, addresses) => {
  expect(read(env.addresses, text)).toEqual(addresses);
});

test('names the variable, the value and the right form of an address', () => {
  expect(() => readConfig({ brokers: env.addresses('KAFKA_BROKERS') }, { KAFKA_BROKERS: 'PLAINTEXT://kafka:9092' })).toThrow(
    'KAFKA_BROKERS is invalid: it must be a comma-separated list of addresses, each host:port without a scheme, ' +
      'with a port from 1 to 65535, such as kafka:9092,[2001:db8::1]:9092, not "PLAINTEXT://kafka:9092"',
  );
});

test.each([
  ['0.0.0.0', '0.0.0.0'],
  ['::', '::'],
  ['[::]', '::'],
  ['[::1]', '::1'],
  ['localhost', 'localhost'],
  ['127.0.0.1:80', undefined],
  ['http://127.0.0.1', undefined],
  ['[localhost]', undefined],
  ['1.2.3', undefined],
])('reads %p as the address to listen on: %p', (text, host) => {
  expect(read(env.listenAddress, text)).toBe(host);
});

test.each([
  ['https://issuer.example/jwks', true],
  ['http://[::1]:4318', true],
  ['https://issuer.example:0', false],
  ['https://issuer.example:99999', false],
  ['issuer.example/jwks', false],
  ['issuer:443', false],
  ['ftp://issuer.example', false],
  ['smtp://mail.example', false],
])('accepts the URL %p: %p', (text, accepted) => {
  expect(read((name) => env.url(name, ['http', 'https']), text)).toBe(accepted ? text : undefined);
});

test.each([
  ['smtp://user:pass@mail.example:587', true],
  ['smtps://[2001:db8::25]', true],
  ['smtp://', false],
  ['smtp:mail.example', false],
  ['smtp://mail.example:0', false],
  ['mail.example:587', false],
  ['mailto:security@example.com', true],
  ['mailto:security', false],
])('accepts, where such schemes may be, the URL %p: %p', (text, accepted) => {
  expect(read((name) => env.url(name, ['smtp', 'smtps', 'mailto']), text)).toBe(accepted ? text : undefined);
});
