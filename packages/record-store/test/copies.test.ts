import { createGrpcServer, openChannel } from '@truckroll/grpc';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { testCaller, testConfig } from '@truckroll/testing';
import { ByteBuffer } from '../src/byte-buffer.ts';

const PAGE = 100_000;
const asIs = (bytes: Buffer): Buffer => bytes;
const method = {
  path: '/test.Pages/Read',
  requestStream: false as const,
  responseStream: false as const,
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
};

type Method = (...args: any[]) => unknown;
const TypedArray = Object.getPrototypeOf(Uint8Array.prototype) as object;
/** Methods that copy bytes in JavaScript, and how many bytes each call copies. */
const COPYING: readonly (readonly [of: object, name: string, bytes: (own: any, args: any[]) => number])[] = [
  [Buffer, 'concat', (_, [list]) => (list as Uint8Array[]).reduce((sum, { length }) => sum + length, 0)],
  [Buffer, 'from', (_, [from]) => (from instanceof ArrayBuffer ? 0 : (from as Uint8Array).length)],
  [Buffer.prototype, 'copy', ({ length }, [, , start = 0, end = length]) => end - start],
  [TypedArray, 'set', (_, [from]) => (from as Uint8Array).length],
  [TypedArray, 'slice', ({ length }, [start = 0, end = length]) => end - start],
];

function countCopies(): { bytes(): number; stop(): void } {
  let bytes = 0;
  const ends = COPYING.map(([of, name, bytesOf]) => {
    const methods = of as Record<string, Method>;
    const copy = methods[name] as Method;
    methods[name] = function (this: unknown, ...args) {
      bytes += bytesOf(this, args);
      return copy.apply(this, args);
    };
    return () => (methods[name] = copy);
  });
  return { bytes: () => bytes, stop: () => ends.forEach((end) => end()) };
}

test('copies the bytes of an assembled page once on the way to the caller that converts it to JSON', async () => {
  const page = new ByteBuffer(PAGE);
  page.append(Buffer.alloc(PAGE, 'page'));
  const answer = page.view();
  const mayCall = (): ReadonlySet<'gateway'> => new Set(['gateway']);
  const server = createGrpcServer({ log: silentLog, metrics: createMetrics('test'), callers: { accepted: testConfig.callerCredentials, mayCall } });
  server.implement({ read: method }, { read: () => answer });
  const channel = openChannel(`127.0.0.1:${await server.listen(0, '127.0.0.1')}`, { credentials: [testCaller('gateway')] });
  try {
    await channel.check();
    const copies = countCopies();
    const read = await channel.call(method.path, Buffer.from('x')).finally(copies.stop);
    expect(copies.bytes() / PAGE).toBeCloseTo(1, 1);
    expect(read.equals(answer)).toBe(true);
  } finally {
    channel.close();
    await server.drain(1000);
  }
});
