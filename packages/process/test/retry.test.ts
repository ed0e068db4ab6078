import { createLog } from '@truckroll/telemetry';
import { backoffMs, logOutage, pause, retrying } from '../src/index.ts';

const never = new AbortController().signal;
const random = Math.random;
afterEach(() => void (Math.random = random));

test.each([
  ['doubles from 100 ms to 5 s', undefined, [100, 200, 400, 800, 1600, 3200, 5000, 5000]],
  ['doubles between given limits', { firstMs: 50, mostMs: 300 }, [50, 100, 200, 300, 300, 300, 300, 300]],
])('the wait %s', (_, backoff, expected) => {
  Math.random = () => 0.5;
  const waits = [1, 2, 3, 4, 5, 6, 7, 1000].map((failures) => backoffMs(failures, backoff));
  expect(waits.map(Math.round)).toEqual(expected);
});

test('the wait varies by a fifth, so that replicas do not retry in step', () => {
  const waits = [0, 0.999_999].map((drawn) => {
    Math.random = () => drawn;
    return Math.round(backoffMs(1));
  });
  expect(waits).toEqual([80, 120]);
});

const SOON = { firstMs: 1, mostMs: 1 };

test('repeats work until it succeeds, and counts the failures', async () => {
  const counted: [unknown, number][] = [];
  let tries = 0;
  const work = async () => {
    tries += 1;
    if (tries < 3) throw new Error(`no ${tries}`);
    return tries;
  };
  expect(await retrying(work, (error, failures) => counted.push([String(error), failures]) > 0, never, SOON)).toBe(3);
  expect(counted).toEqual([
    ['Error: no 1', 1],
    ['Error: no 2', 2],
  ]);
});

test('rejects with the first error that should not be retried', async () => {
  let tries = 0;
  const work = () => Promise.reject(new Error(`no ${(tries += 1)}`));
  await expect(retrying(work, (_, failures) => failures < 2, never, SOON)).rejects.toThrow('no 2');
  expect(tries).toBe(2);
});

test('does not begin when it is aborted, and rejects with the error of work during which it is aborted', async () => {
  const stopping = new AbortController();
  let asked = 0;
  const again = () => (asked += 1) > 0;
  const work = () => {
    stopping.abort(new Error('stopping'));
    return Promise.reject(new Error('the last one'));
  };
  await expect(retrying(work, again, stopping.signal, SOON)).rejects.toThrow('the last one');
  await expect(retrying(async () => 'never', again, stopping.signal, SOON)).rejects.toThrow('stopping');
  expect(asked).toBe(0);
});

test('a wait between tries and a pause end when they are aborted, the pause without an error', async () => {
  const HOUR = { firstMs: 3_600_000, mostMs: 3_600_000 };
  const stopping = new AbortController();
  const again = () => {
    setImmediate(() => stopping.abort());
    return true;
  };
  await expect(retrying(() => Promise.reject(new Error('no')), again, stopping.signal, HOUR)).rejects.toMatchObject({ name: 'AbortError' });
  await pause(3_600_000, stopping.signal);
  await pause(1, never);
});

test('warns of the fifth failure in a row and of every tenth after it, with the cause, and notes each at debug', () => {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('trial', 'debug', { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
  const error = new Error('no luck', { cause: new Error('the disk is full') });
  for (let failures = 1; failures <= 26; failures += 1) logOutage(log, 'waiting', failures, error, { group: 'g' });
  const warnings = lines.filter(({ level }) => level === 'warn');
  expect(warnings.map(({ failures }) => failures)).toEqual([5, 15, 25]);
  expect(warnings[0]).toMatchObject({ group: 'g', reason: 'Error: no luck', cause: 'the disk is full', msg: 'waiting' });
  expect(lines.filter(({ level }) => level === 'debug')).toHaveLength(26);
  expect(lines[0]).toMatchObject({ group: 'g', error: { message: 'no luck', cause: { message: 'the disk is full' } } });
  for (const thrown of ['text', new Error('x', { cause: 'text' })]) logOutage(log, 'waiting', 5, thrown);
  expect(
    lines
      .slice(-3)
      .filter(({ level }) => level === 'warn')
      .map((line) => ['cause' in line, line['reason']]),
  ).toEqual([
    [false, 'text'],
    [false, 'Error: x'],
  ]);
});
