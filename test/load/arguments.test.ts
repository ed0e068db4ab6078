import { HELP, isLoopback, readOptions } from '../../loadtest/load/arguments.ts';

const read = (line: string, environment: Record<string, string> = {}) => readOptions(line.split(' ').filter(Boolean), environment);

test('a run uses its own system, or the address in BASE_URL if it is given', () => {
  expect(read('average --rate 50 --seconds 10 --only list,detail')).toEqual({
    what: 'average',
    rate: 50,
    seconds: 10,
    only: ['list', 'detail'],
    pinned: false,
    jobs: 20_000,
  });
  expect(read('smoke', { BASE_URL: 'http://127.0.0.1:8080/' })).toMatchObject({ what: 'smoke', baseUrl: 'http://127.0.0.1:8080' });
  expect(read('capacity')).toMatchObject({ pinned: true });
  expect(read('--help')).toBe('help');
});

test.each(['127.0.0.1', '127.9.8.7', 'localhost', '[::1]'])('%s is a loopback address', (host) => {
  expect(isLoopback(host)).toBe(true);
});

test.each(['192.168.1.4', '10.0.0.1', 'api.example.com', 'localhost.example.com', '127.example.com', '0.0.0.0', '[::ffff:127.0.0.1]'])(
  '%s is refused unless the user says that it may be loaded',
  (host) => {
    const BASE_URL = `http://${host}:8080`;
    expect(() => read('average', { BASE_URL })).toThrow(/--i-may-load-this/);
    expect(read('average --i-may-load-this', { BASE_URL })).toMatchObject({ baseUrl: BASE_URL });
  },
);

test.each([
  ['', /Say what to run: smoke, average/],
  ['everything', /Say what to run/],
  ['average stress', /Say what to run/],
  ['average --only list,everything', /--only everything is no scenario: give some of list/],
  ['average --rate=-1', /--rate must be a number above 0/],
  ['average --seconds soon', /--seconds must be a number above 0/],
  ['average --speed 5', /--speed/],
])('rejects %j with what to do', (line, message) => {
  expect(() => read(line)).toThrow(message);
});

test.each(['capacity', 'overload', 'flood', 'average --pinned'])('%s cannot be done to a system that is given', (line) => {
  expect(() => read(line, { BASE_URL: 'http://127.0.0.1:8080' })).toThrow(/leave BASE_URL out/);
});

test('the help names everything that can be run', () => {
  for (const name of ['smoke', 'average', 'stress', 'spike', 'soak', 'breakpoint', 'capacity', 'overload', 'flood']) expect(HELP).toContain(`  ${name}`);
});
