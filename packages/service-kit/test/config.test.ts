import { ConfigError, env, readConfig } from '../src/index.ts';

const settings = {
  databaseUrl: env.url('DATABASE_URL'),
  port: env.port('PORT', 50051),
  level: env.oneOf('LEVEL', ['low', 'high'], 'low'),
  timeout: env.duration('TIMEOUT', 5000),
  brokers: env.list('BROKERS', []),
  secure: env.boolean('SECURE', false),
  note: env.optional('NOTE'),
};

test('values are typed, defaults fill gaps, and the result cannot be changed', () => {
  const config = readConfig(settings, { DATABASE_URL: 'postgres://h/d', TIMEOUT: '2m', BROKERS: 'a:1, b:2,', PORT: '' });
  expect(config).toEqual({
    databaseUrl: 'postgres://h/d', port: 50051, level: 'low', timeout: 120_000, brokers: ['a:1', 'b:2'], secure: false, note: undefined,
  });
  expect(Object.isFrozen(config)).toBe(true);
});

test('everything missing or invalid is named at once, one line each', () => {
  const read = () => readConfig(settings, { PORT: '70000', LEVEL: 'middle', TIMEOUT: '5', SECURE: 'yes' });
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(
    [
      'DATABASE_URL is missing: set it to a URL such as scheme://host:port/path',
      'PORT is invalid: it must be a port number from 0 to 65535, not "70000"',
      'LEVEL is invalid: it must be one of low, high, not "middle"',
      'TIMEOUT is invalid: it must be a duration with a unit, such as 250ms, 5s or 2m, not "5"',
      'SECURE is invalid: it must be "true" or "false", not "yes"',
    ].join('\n'),
  );
});

test('a message never repeats what may hold a password', () => {
  const read = () => readConfig({ url: env.url('DATABASE_URL') }, { DATABASE_URL: 'hunter2 is no url' });
  expect(read).toThrow('DATABASE_URL is invalid');
  expect(read).not.toThrow(/hunter2/);
});
