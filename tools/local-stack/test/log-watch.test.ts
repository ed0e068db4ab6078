import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LogWatch } from '../src/start/log-watch.ts';
import { Scratch } from './support.ts';

const scratch = new Scratch();
afterAll(() => scratch.end());

function watch() {
  const file = join(scratch.folder(), 'billing.log');
  const said: string[] = [];
  writeFileSync(file, `${JSON.stringify({ level: 'error', msg: 'of an earlier start' })}\n`);
  const log = new LogWatch('billing', file, (line) => void said.push(line));
  const write = (...entries: object[]) => {
    appendFileSync(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
    log.look();
  };
  return { file, log, said, write };
}

test('only warnings and errors reach the terminal, as sentences with their cause', () => {
  const { log, said, write } = watch();
  write({ level: 'info', msg: 'serving' }, { level: 'warn', time: '…', msg: 'waiting for PostgreSQL', error: { message: 'refused\n  at …' } });
  write({ level: 'info', msg: 'an "level":"error" in a text' }, { level: 'error', msg: 'failed' });
  write({ level: 'error', msg: 'failed', error: { message: 'not now', cause: { message: 'the socket closed' } } });
  expect(said).toEqual(['billing warn: waiting for PostgreSQL (refused)', 'billing error: failed', 'billing error: failed (the socket closed)']);
  log.stop();
});

test('a partly written line is read when it is complete', () => {
  const { file, log, said } = watch();
  appendFileSync(file, '{"level":"error","msg":"fai');
  log.look();
  appendFileSync(file, 'led"}\n');
  log.look();
  expect(said).toEqual(['billing error: failed']);
  log.stop();
});

test('a repeated sentence is shown once', () => {
  const { log, said, write } = watch();
  for (let times = 0; times < 5; times += 1) write({ level: 'warn', msg: 'Kafka is away' });
  expect(said).toEqual(['billing warn: Kafka is away']);
  log.stop();
});

test('a truncated file is read from its beginning', () => {
  const { file, log, said, write } = watch();
  writeFileSync(file, '');
  write({ level: 'error', msg: 'a' });
  expect(said).toEqual(['billing error: a']);
  log.stop();
});
