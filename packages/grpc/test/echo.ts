import type { ApiError } from '@truckroll/contract';
import { formatAddress } from '@truckroll/process';
import { createMetrics, silentLog, type Logger } from '@truckroll/telemetry';
import { testCallers, testConfig } from '@truckroll/testing';
import { createGrpcServer, openChannel, type CallerCheck, type Handlers } from '../src/index.ts';

interface Word {
  text: string;
}

const encode = (word: Word) => Buffer.from(word.text);
const decode = (bytes: Buffer): Word => ({ text: bytes.toString() });

function method<const P extends string, const Q extends boolean, const S extends boolean>(path: P, requestStream: Q, responseStream: S) {
  return {
    path: `/test.Echo/${path}`,
    requestStream,
    responseStream,
    requestSerialize: encode,
    requestDeserialize: decode,
    responseSerialize: encode,
    responseDeserialize: decode,
  };
}

export const EchoService = {
  say: method('Say', false, false),
  split: method('Split', false, true),
  each: method('Each', true, true),
} as const;

export type EchoHandlers = Handlers<typeof EchoService>;

const handlers: EchoHandlers = {
  say: (word) => word,
  async *split(word) {
    for (const text of word.text.split(' ')) yield { text };
  },
  async *each(words) {
    for await (const word of words) yield { text: word.text.toUpperCase() };
  },
};

export const echoCallers = () => new Set([testCallers[0]!.caller]);

export async function startEcho(own: Partial<EchoHandlers> = {}, port = 0, log: Logger = silentLog, callers: Partial<CallerCheck> = {}, host = '127.0.0.1') {
  const metrics = createMetrics('echo');
  const server = createGrpcServer({ log, metrics, callers: { accepted: testConfig.callerCredentials, mayCall: echoCallers, ...callers } });
  server.implement(EchoService, { ...handlers, ...own });
  const bound = await server.listen(port, host);
  const channel = openChannel(formatAddress(host === '::' ? '::1' : host, bound), { deadlineMs: 5000, credentials: testCallers.slice(0, 1) });
  await channel.check(5000);
  return {
    server,
    metrics,
    channel,
    port: bound,
    client: channel.client(EchoService),
    async stop() {
      channel.close();
      await server.drain(100);
    },
  };
}

export async function* words(...texts: string[]): AsyncGenerator<Word> {
  for (const text of texts) yield { text };
}

export async function collect(answers: AsyncIterable<Word>): Promise<string[]> {
  const texts: string[] = [];
  for await (const answer of answers) texts.push(answer.text);
  return texts;
}

/** The error of a call, or undefined if it succeeds. */
export function thrown(promise: Promise<unknown>): Promise<ApiError | undefined> {
  return promise.then(
    () => undefined,
    (error: unknown) => error as ApiError,
  );
}

export function deferred<T = void>() {
  return Promise.withResolvers<T>();
}
