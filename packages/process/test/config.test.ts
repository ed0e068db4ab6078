import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, env, readConfig, stopLimitMs } from '../src/index.ts';

const settings = {
  databaseUrl: env.url('DATABASE_URL', ['postgres']),
  port: env.port('PORT', 50051),
  level: env.oneOf('LEVEL', ['low', 'high'], 'low'),
  timeout: env.duration('TIMEOUT', 5000),
  brokers: env.list('BROKERS', []),
  secure: env.boolean('SECURE', false),
  note: env.optional('NOTE'),
};

test('values are typed, defaults fill gaps, and the result is frozen', () => {
  const config = readConfig(settings, { DATABASE_URL: 'postgres://h/d', TIMEOUT: '2m', BROKERS: 'a:1, b:2,', PORT: '' });
  expect(config).toEqual({
    databaseUrl: 'postgres://h/d',
    port: 50051,
    level: 'low',
    timeout: 120_000,
    brokers: ['a:1', 'b:2'],
    secure: false,
    note: undefined,
  });
  expect(Object.isFrozen(config)).toBe(true);
});

test('everything missing or invalid is reported at once, one line each', () => {
  const read = () => readConfig(settings, { PORT: '70000', LEVEL: 'middle', TIMEOUT: '5', SECURE: 'yes' });
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(
    [
      'DATABASE_URL is missing: set it to a URL that begins with postgres://, with a host and, if any, a port from 1 to 65535',
      'PORT is invalid: it must be a port number from 0 to 65535, not "70000"',
      'LEVEL is invalid: it must be one of low, high, not "middle"',
      'TIMEOUT is invalid: it must be a duration with a unit, such as 250ms, 5s or 2m, not "5"',
      'SECURE is invalid: it must be "true" or "false", not "yes"',
    ].join('\n'),
  );
});

test('reports what checks find together with what is missing or invalid, which they do not see', () => {
  const seen: unknown[] = [];
  const check = (message: string) => (config: unknown) => {
    seen.push(config);
    throw new ConfigError(message);
  };
  const read = () => readConfig(settings, { DATABASE_URL: 'postgres://h/d', PORT: 'x' }, [check('NOTE is missing'), () => undefined, check('LEVEL is low')]);
  expect(read).toThrow('PORT is invalid: it must be a port number from 0 to 65535, not "x"\nNOTE is missing\nLEVEL is low');
  expect(seen[0]).toMatchObject({ databaseUrl: 'postgres://h/d', level: 'low' });
  expect(seen[0]).not.toHaveProperty('port');
});

test('an error of a check itself is not reported as a fault of the settings', () => {
  const check = () => {
    throw new TypeError('a bug');
  };
  expect(() => readConfig({ port: settings.port }, {}, [check])).toThrow(TypeError);
});

test('a message never repeats a value that may contain a password', () => {
  const read = () => readConfig({ url: env.url('DATABASE_URL', ['postgres']) }, { DATABASE_URL: 'hunter2 is no url' });
  expect(read).toThrow('DATABASE_URL is invalid');
  expect(read).not.toThrow(/hunter2/);
});

test.each([
  ['250ms', 250],
  ['5s', 5000],
  ['2m', 120_000],
  ['1h', 3_600_000],
  ['30d', 2_592_000_000],
  ['0s', 0],
  ['1.5s', undefined],
  ['-1s', undefined],
  ['5 s', undefined],
  ['5w', undefined],
])('reads the duration %s as %p ms', (text, expected) => {
  expect(env.duration('D').parse(text)).toBe(expected);
});

test('limits are inclusive: of ports, of whole numbers, and of those without limits', () => {
  const parsed = (setting: ReturnType<typeof env.integer>, ...texts: string[]) => texts.map((text) => setting.parse(text));
  expect(parsed(env.port('P'), '0', '65535', '65536', '-1', '1e3', '')).toEqual([0, 65_535, undefined, undefined, undefined, undefined]);
  expect(parsed(env.integer('I', { min: 2, max: 4 }), '1', '2', '4', '5')).toEqual([undefined, 2, 4, undefined]);
  expect(parsed(env.integer('I', {}), '-1', '0', '9007199254740991', '9007199254740992')).toEqual([undefined, 0, Number.MAX_SAFE_INTEGER, undefined]);
  expect(env.integer('I', { min: 2, max: 4 }).expected).toBe('a whole number from 2 to 4');
});

test('a list drops empty items, and has at least one', () => {
  expect([' a ,,b ', ' , ', 'a'].map((text) => env.list('L').parse(text))).toEqual([['a', 'b'], undefined, ['a']]);
});

test('no message repeats a secret, a URL or a key, and an optional URL must be one', () => {
  const hidden = {
    a: env.secret('A'),
    b: env.optionalSecret('B'),
    c: env.keyRing('C'),
    d: env.url('D', ['https']),
    e: env.optionalUrl('E', ['http', 'https']),
  };
  expect(Object.values(hidden).map(({ shown }) => shown)).toEqual([false, false, false, false, false]);
  expect([env.string('S'), env.optional('O'), env.port('P')].map(({ shown }) => shown)).toEqual([true, true, true]);
  expect(() => readConfig({ e: hidden.e }, { E: 'hunter2' })).toThrow('E is invalid: it must be a URL that begins with http:// or https://, with a host');
  expect(readConfig({ e: hidden.e, b: hidden.b }, {})).toEqual({ e: undefined, b: undefined });
});

describe('a key ring', () => {
  const key = () => randomBytes(32).toString('base64');
  const read = (text: string) => readConfig({ keys: env.keyRing('SOME_KEYS') }, { SOME_KEYS: text }).keys;

  test('seals with its first key', () => {
    expect(read(`new:${key()},old:${key()}`).firstId).toBe('new');
  });

  test.each([
    'k1',
    'k1:',
    'k1:abc',
    `k1:${randomBytes(16).toString('base64')}`,
    `:${key()}`,
    `k1:${key()},k1:${key()}`,
    `k1:${Buffer.alloc(32).toString('base64')}`,
    `k1:${key()},k2:${Buffer.alloc(32, 0xff).toString('base64')}`,
  ])('refuses %s, and never repeats it', (text) => {
    expect(() => read(text)).toThrow(/^SOME_KEYS is invalid: it must be id:key/);
    expect(() => read(text)).not.toThrow(text);
  });
});

describe('a secret in a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'truckroll-config-'));
  const file = join(folder, 'password');
  writeFileSync(file, 'hunter2\n');
  afterAll(() => rmSync(folder, { recursive: true }));
  const read = (environment: Record<string, string>) => readConfig({ password: env.secret('PASSWORD'), level: env.string('LEVEL', 'low') }, environment);

  test('is read without its line ending', () => {
    expect(read({ PASSWORD_FILE: file }).password).toBe('hunter2');
  });

  test('must exist, and conflicts with the variable itself', () => {
    expect(() => read({ PASSWORD: 'x', PASSWORD_FILE: file })).toThrow('PASSWORD and PASSWORD_FILE are both set: leave one of them out');
    expect(() => read({ PASSWORD_FILE: join(folder, 'absent') })).toThrow(/^PASSWORD_FILE cannot be read: ENOENT/);
  });

  test('is for secrets only', () => {
    expect(read({ PASSWORD: 'x', LEVEL_FILE: file }).level).toBe('low');
  });
});

test('a stop may take as long as its two grace periods and 15 s for its parts', () => {
  expect(stopLimitMs({ drainDelayMs: 5000, drainMs: 20_000 })).toBe(40_000);
});
