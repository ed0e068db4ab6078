// What the attempt says about the bytes that a receiver sends, sloppy ones included.
import { createServer } from 'node:net';
import { AnswerHead } from '../src/send/answer-head.ts';
import { closeOpened, listening, sender } from './support/opened.ts';

afterEach(closeOpened);

const KB = 1024;
const OK = 'HTTP/1.1 200 OK\r\n';
const TWO = 'Content-Length: 2\r\n\r\nok';
const CHUNKS = '2\r\nok\r\n0\r\n\r\n';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const NOT_HTTP = 'This is not an HTTP answer: it does not begin with a status line such as HTTP/1.1 200 OK.';
const ENDED = 'The connection ended before the answer was complete.';
const invalid = (reason: string): string => `The answer is not valid HTTP: ${reason}.`;
const badName = (name: string): string => invalid(`the header name "${name}" has a space or another character that names must not have`);
/** A head of this many bytes. */
const sized = (bytes: number): string => `${OK}Set-Cookie: a=`.padEnd(bytes - '\r\nContent-Length: 2\r\n\r\n'.length, 'x');

/** Latin-1 text, and the message of the failure; undefined for a success with the body `ok`. */
const ANSWERS: readonly (readonly [answer: string, message?: string])[] = [
  [OK + TWO],
  ['HTTP/1.1 204 No Content\r\n\r\n'],
  ['HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok'],
  [`${OK}\r\nok`],
  // RFC 9112, 6.3: equal lengths count as one, and Transfer-Encoding overrides them.
  [`${OK}Content-Length: 2\r\n${TWO}`],
  [`${OK}Content-Length: 2, 2\r\n\r\nok`],
  [`${OK}Content-Length: 7\r\n${CHUNKED}\r\n${CHUNKS}`],
  [`${OK}${CHUNKED}Content-Length: 7\r\n\r\n${CHUNKS}`],
  [`${OK}Transfer-Encoding: identity\r\n${TWO}`],
  [`${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok`, invalid('it has two different values of Content-Length')],
  [`${OK}Content-Length: 2, 3\r\n\r\nok`, invalid('it has two different values of Content-Length')],
  [`${OK}Content-Length: two\r\n\r\nok`, invalid('its Content-Length is not a number')],
  [`${OK}Content-Length:\r\n\r\nok`, invalid('its Content-Length is not a number')],
  [`${OK}Content-Length: -2\r\n\r\nok`, invalid('its Content-Length is not a number')],
  [`${OK}Content-Length : 2\r\n\r\nok`, badName('Content-Length ')],
  // RFC 9112, 2.2: a recipient may take a line feed alone as the end of a line.
  ['HTTP/1.1 200 OK\nContent-Length: 2\n\nok'],
  ['\r\n\nHTTP/1.1 200 OK\r\nContent-Length: 2\n\r\nok'],
  // RFC 9112, 5.2: a folded value.
  [`${OK}X-Folded: a\r\n b\r\n\tc\r\n${TWO}`],
  // RFC 9110, 5.5: control characters in values count as spaces.
  [`${OK}X-Control: a\0b\x01c\rd\x7fe\r\n${TWO}`],
  [`${OK}X-Name: \u00dc\r\n${TWO}`],
  [`${OK}X-Bad Header: 1\r\n${TWO}`, badName('X-Bad Header')],
  [`${OK}X-\u00dcber: 1\r\n${TWO}`, badName('X-?ber')],
  [`${OK}X-"Quoted": 1\r\n${TWO}`, badName('X-?Quoted?')],
  [`${OK}${'x '.repeat(100)}: 1\r\n${TWO}`, badName('x '.repeat(32))],
  [`${OK}: 1\r\n${TWO}`, invalid('line 2 of its headers has no name')],
  [`${OK}X-Name: 1\r\nwithout a colon\r\n${TWO}`, invalid('line 3 of its headers has no colon')],
  [`${OK} folded: 1\r\n${TWO}`, badName(' folded')],
  ['hello', NOT_HTTP],
  ['SMTP 220 hello\r\n\r\n', NOT_HTTP],
  [`Warning: in hook.php\r\n${OK}${TWO}`, NOT_HTTP],
  ['ICY 200 OK\r\n\r\nok', NOT_HTTP],
  ['HTTP/1.1 OK\r\n\r\nok', invalid('its status line has no version and status such as HTTP/1.1 200')],
  ['HTTP/1.1 099 OK\r\n\r\nok', invalid('its status line has no version and status such as HTTP/1.1 200')],
  ['HTTP/1.1 2000 OK\r\n\r\nok', invalid('its status line has no version and status such as HTTP/1.1 200')],
  [`HTTP/1.1 200\r\n${TWO}`],
  [`HTTP/1.1 200 \u00dc\x07\r\n${TWO}`],
  [`HTTP/1.0 200 OK\r\n${TWO}`],
  [`HTTP/2 200\r\n${TWO}`],
  // RFC 9110, 15.2: unexpected 1xx answers are ignored.
  [`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${OK}${TWO}`],
  ['HTTP/1.1 101 Switching Protocols\r\n\r\n', invalid('its status 101 switches to a protocol that was not requested')],
  ['', 'The connection ended without an answer.'],
  ['HTT', ENDED],
  [OK, ENDED],
  ['HTTP/1.1 100 Continue\r\n\r\n', ENDED],
  [`${OK}Content-Length: 10\r\n\r\nok`, ENDED],
  [`${OK}${CHUNKED}\r\n2\r\nok\r\n`, ENDED],
  [`${OK}${CHUNKED}\r\nzz\r\nok\r\n`, invalid('Invalid character in chunk size')],
  [`${OK}${CHUNKED}\r\n2\r\nokay\r\n`, invalid('Expected LF after chunk data')],
  [`${OK}${CHUNKED}\r\n2\r\nok\r\n0\r\nX-Bad Trailer: 1\r\n\r\n`, invalid('Invalid header token')],
  [`${OK}${CHUNKED}\r\n2\r\nok\r\n0\r\nX-Trailer: ${'x'.repeat(64 * KB)}\r\n\r\n`, 'The trailers of the answer were longer than 64 KB.'],
  [`${sized(20 * KB)}\r\n${TWO}`],
  [`${sized(64 * KB)}\r\n${TWO}`],
  [`${sized(64 * KB + 1)}\r\n${TWO}`, 'The headers of the answer were longer than 64 KB.'],
  [`HTTP/1.1 103 Early Hints\r\nLink: ${'x'.repeat(40 * KB)}\r\n\r\n${sized(40 * KB)}\r\n${TWO}`],
];

test.each(ANSWERS.map(([answer, message]) => [JSON.stringify(answer.slice(0, 80)), answer, message] as const))(
  'reads the answer %s',
  async (_, answer, message) => {
    const server = createServer((socket) => void socket.on('error', () => undefined).once('data', () => socket.end(answer, 'latin1')));
    const target = `127.0.0.1:${await listening(server)}`;
    const { status, failure, responseBody } = await sender({ allowed: [target] }).send(`http://${target}/`);
    expect(failure?.message).toBe(message);
    if (message !== undefined) return;
    expect([status, responseBody.toString()]).toEqual(answer.startsWith('HTTP/1.1 204') ? [204, ''] : [200, 'ok']);
  },
);

test('reads an answer alike however its bytes are split', () => {
  const read = (chunks: readonly Buffer[]): string => {
    const head = new AnswerHead();
    try {
      return chunks.map((chunk) => head.pass(chunk)?.toString('latin1') ?? '').join('');
    } catch (error) {
      return (error as Error).message;
    }
  };
  for (const [answer] of ANSWERS) {
    const bytes = Buffer.from(answer, 'latin1');
    const whole = read([bytes]);
    expect(read([...bytes].map((byte) => Buffer.of(byte)))).toBe(whole);
    for (let at = 1; at < Math.min(bytes.length, 100); at += 1) expect(read([bytes.subarray(0, at), bytes.subarray(at)])).toBe(whole);
  }
});

test('reads the repaired heads of several answers on one connection', async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined).on('data', () => socket.write(`HTTP/1.1 100 Continue\r\n\r\n${OK}Content-Length: 2\r\n${TWO}`));
  });
  const target = `127.0.0.1:${await listening(server)}`;
  const { send } = sender({ allowed: [target] });
  for (let times = 0; times < 3; times += 1) expect((await send(`http://${target}/`)).responseBody.toString()).toBe('ok');
  expect(connections).toBe(1);
});

test('does not wait for the end of a connection that does not speak HTTP', async () => {
  const server = createServer((socket) => void socket.on('error', () => undefined).write('220 mail.example ESMTP'));
  const target = `127.0.0.1:${await listening(server)}`;
  const { failure } = await sender({ allowed: [target] }).send(`http://${target}/`);
  expect(failure?.message).toBe(NOT_HTTP);
});
