import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { reasonsOf } from '@truckroll/integrator-cli/terminal/reasons';
import { run } from '../src/run.ts';

test('shows the message of an error without details, and else at most five details', () => {
  const details = Array.from({ length: 7 }, (_, i) => ({ field: `field${i}`, message: 'Give a number.' }));
  expect(reasonsOf({ message: 'No.' })).toBe('No.');
  expect(reasonsOf({ message: 'No.', details: details.slice(0, 5) }).split('\n')).toHaveLength(5);
  expect(reasonsOf({ message: 'No.', details }, (field) => `--${field}`)).toBe(
    [...Array.from({ length: 5 }, (_, i) => `--field${i}: Give a number.`), 'and 2 more'].join('\n'),
  );
});

test('a report names the options that the API refuses', async () => {
  const details = ['start_date', 'end_date', 'bucket', 'group_by', 'method'].map((field) => ({ field, message: 'Give another.' }));
  const server = createServer((_, response) => void response.writeHead(400).end(JSON.stringify({ error: { message: 'No.', request_id: 'r1', details } })));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  let err = '';
  const io = {
    env: { TRUCKROLL_API_KEY: 'trk_x', TRUCKROLL_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    cwd: '/',
    stdout: { write: () => undefined },
    stderr: { write: (text: string) => (err += text) },
    signal: new AbortController().signal,
  };
  try {
    expect(await run(['report', 'collections', '--from', 'x', '--to', 'y', '--where', 'method=CARDS'], io)).toBe(1);
  } finally {
    server.close();
  }
  expect(err).toMatch(/ was answered 400 \(request r1\): --from: Give another\.\n--to: .*\n--bucket: .*\n--group-by: .*\n--where method: Give another\.\n$/);
});
