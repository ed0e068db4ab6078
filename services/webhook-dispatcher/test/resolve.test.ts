// Look-ups at a DNS server of the test.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createResolve, type Resolve } from '../src/send/resolve.ts';

const [A, AAAA] = [1, 28];
const [OK, SERVER_FAILURE, NO_SUCH_NAME] = [0, 2, 3];
const V4 = Buffer.of(203, 0, 113, 7);
const V6 = Buffer.from('20010db8000000000000000000000007', 'hex');

/** By the first label of the name: the server's status, and what it knows of each type. */
const ZONE: Readonly<Record<string, Readonly<Record<number, Buffer | number>>>> = {
  both: { [A]: V4, [AAAA]: V6 },
  old: { [A]: V4, [AAAA]: OK },
  new: { [A]: OK, [AAAA]: V6 },
  half: { [A]: SERVER_FAILURE, [AAAA]: V6 },
  empty: { [A]: OK, [AAAA]: OK },
  broken: { [A]: SERVER_FAILURE, [AAAA]: SERVER_FAILURE },
};

function answerTo(query: Buffer): Buffer {
  const label = query.toString('latin1', 13, 13 + query[12]!);
  const end = query.indexOf(0, 12) + 5;
  const type = query.readUInt16BE(end - 4);
  const known = ZONE[label]?.[type] ?? NO_SUCH_NAME;
  const [status, data] = typeof known === 'number' ? [known, undefined] : [OK, known];
  const head = Buffer.from([query[0]!, query[1]!, 0x81, 0x80 | status, 0, 1, 0, data === undefined ? 0 : 1, 0, 0, 0, 0]);
  const record = data === undefined ? [] : [Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]), data];
  return Buffer.concat([head, query.subarray(12, end), ...record]);
}

let server: Socket;
let resolve: Resolve;
beforeAll(async () => {
  server = createSocket('udp4', (query, { port, address }) => server.send(answerTo(query), port, address));
  await once(server.bind(0, '127.0.0.1'), 'listening');
  resolve = createResolve([`127.0.0.1:${server.address().port}`]);
});
afterAll(() => void server.close());

test.each([
  ['both.example', ['203.0.113.7', '2001:db8::7']],
  ['old.example', ['203.0.113.7']],
  ['new.example', ['2001:db8::7']],
  ['half.example', ['2001:db8::7']],
])('finds the addresses of %s: %j', async (name, addresses) => {
  expect(await resolve(name)).toEqual(addresses);
});

test.each([
  ['empty.example', 'The host has no address.'],
  ['unknown.example', 'The host has no address.'],
  ['broken.example', 'The name of the host could not be resolved.'],
])('says of %s: %s', async (name, message) => {
  await expect(resolve(name)).rejects.toMatchObject({ kind: 'ATTEMPT_ERROR_NAME', message });
});
