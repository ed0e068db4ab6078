import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import {
  Metadata,
  Server,
  status as GrpcStatus,
  type MethodDefinition,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type UntypedServiceImplementation,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { ERROR_TRAILER, callersOf, encodeError, operations } from '@truckroll/contract';
import { formatAddress } from '@truckroll/process';
import {
  ATTR_RPC_METHOD,
  ATTR_RPC_SYSTEM_NAME,
  RPC_SYSTEM_NAME_VALUE_GRPC,
  durations,
  onBehalfOf,
  withRemoteSpan,
  type Logger,
  type Metrics,
} from '@truckroll/telemetry';
import { CallCancelled, CallContext } from './call-context.ts';
import { callerInterceptor, type CallerCheck } from './caller-check.ts';
import './driver/framing.ts';
import { passingBytes, type Definition, type Handlers } from './handlers.ts';
import { addHealth } from './health-check.ts';
import { serverCredentials, type TlsConfig } from './tls.ts';
import { serverOptions } from './options.ts';

export interface GrpcServer {
  /** Serves a generated service. Call before listen. */
  implement<const D extends Definition>(definition: D, handlers: Handlers<D>): void;
  /** Records each operator's call before it is served. A call that cannot be recorded fails. Call before listen. */
  recordOperators(record: RecordOperatorCall): void;
  /** Binds; port 0 takes a free one. Rejects if the port is taken. Resolves to the port. */
  listen(port: number, host?: string): Promise<number>;
  /** Sets the answer of the standard health service for the whole server (the empty service name). */
  setServing(serving: boolean): void;
  /** Makes clients reconnect elsewhere but serves them for `delayMs`; then refuses new calls, and cuts off running ones after `graceMs`. */
  drain(graceMs: number, delayMs?: number): Promise<void>;
}

export interface GrpcServerOptions {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly callers: CallerCheck;
  /** Age at which clients must reconnect, so that they find newer replicas. Milliseconds. Default: never. */
  readonly maxConnectionAgeMs?: number;
  /** Plain HTTP/2 unless it sets a certificate. */
  readonly tls?: TlsConfig;
}

/** `request` is undefined if the call sends a stream of requests. */
export type RecordOperatorCall = (rpc: string, request: unknown) => Promise<void>;

/** Rpcs of public operations that change something; each call is logged. Reads are logged by the gateway. */
const LOGGED = new Set(operations.filter(({ verb }) => verb !== 'GET').map(({ rpc }) => rpc));

type Call = ServerUnaryCall<unknown, unknown> & ServerDuplexStream<unknown, unknown>;
type Serve = (call: Call, callback: sendUnaryData<unknown>) => void;
type AnyHandler = (request: unknown, context: CallContext) => unknown;

export function createGrpcServer(options: GrpcServerOptions): GrpcServer {
  const { log, metrics } = options;
  const { mayCall = callersOf } = options.callers;
  const server = new Server({ ...serverOptions(options.maxConnectionAgeMs), interceptors: [callerInterceptor(options.callers, log, metrics)] });
  let address: string | undefined;
  const transport = serverCredentials(options.tls ?? {});
  const health = addHealth(server);
  let recordOperatorCall: RecordOperatorCall | undefined;
  const calls = durations(metrics, 'rpc_server_call_duration_seconds', 'Calls that were served, by rpc and gRPC status', [
    'rpc_method',
    'rpc_response_status_code',
  ]);

  function failed(error: unknown, context: CallContext, name: string, startedAt: number) {
    const cancelled = error instanceof CallCancelled;
    const { grpcCode, message, trailer } = encodeError(error);
    const code = cancelled ? GrpcStatus.CANCELLED : grpcCode;
    if (code === GrpcStatus.INTERNAL) context.log.error({ error }, 'a call failed');
    else if (code === GrpcStatus.UNAVAILABLE) context.log.warn({ error }, 'a call failed because a dependency is unavailable');
    else context.log.debug({ error }, 'a call was refused');
    calls.ended(startedAt, name, GrpcStatus[code]);
    context.end();
    const metadata = new Metadata();
    metadata.set(ERROR_TRAILER, Buffer.from(trailer));
    return { code, details: message, metadata };
  }

  function serve(method: MethodDefinition<unknown, unknown>, handler: AnyHandler): Serve {
    const name = method.path.slice(1);
    const span = { [ATTR_RPC_SYSTEM_NAME]: RPC_SYSTEM_NAME_VALUE_GRPC, [ATTR_RPC_METHOD]: name };
    const forOperators = mayCall(method.path).has('operator');
    const logged = LOGGED.has(method.path) || forOperators;
    const serving = (call: Call, callback: sendUnaryData<unknown>, context: CallContext): void => {
      const startedAt = performance.now();
      const request = method.requestStream ? call.iterator({ destroyOnReturn: false }) : call.request;
      const done = () => {
        context.end();
        calls.ended(startedAt, name, 'OK');
        if (logged) context.log.info({ ms: Math.round((performance.now() - startedAt) * 100) / 100 }, 'served a call');
      };
      const traced = (work: () => Promise<unknown>) => withRemoteSpan((key) => context.metadata(key), method.path, 'SERVER', span, work);
      const isRecorded = forOperators && context.operator !== undefined;
      const record = () => recordOperatorCall?.(method.path, method.requestStream ? undefined : call.request);
      if (method.responseStream) {
        const send = async () => {
          if (isRecorded) await record();
          for await (const response of handler(request, context) as AsyncIterable<unknown>) {
            context.signal.throwIfAborted();
            if (!call.write(response)) await once(call, 'drain', { signal: context.signal });
          }
        };
        traced(send).then(
          () => {
            done();
            call.end();
          },
          (error: unknown) => void call.emit('error', failed(context.signal.aborted ? new CallCancelled() : error, context, name, startedAt)),
        );
      } else {
        context.limitDuration(() => callback({ code: GrpcStatus.DEADLINE_EXCEEDED, details: 'the call took too long' }));
        traced(async () => {
          if (isRecorded) await record();
          return handler(request, context);
        }).then(
          (response) => {
            done();
            callback(null, response);
          },
          (error: unknown) => callback(failed(error, context, name, startedAt)),
        );
      }
    };
    return (call, callback) => {
      const context = new CallContext(call, method.path, log);
      onBehalfOf(context, () => serving(call, callback, context));
    };
  }

  return {
    implement(definition, handlers) {
      const passing = passingBytes(definition);
      const implementation: UntypedServiceImplementation = {};
      for (const [name, method] of Object.entries(passing)) {
        const handler = (handlers as Record<string, AnyHandler | undefined>)[name];
        if (handler === undefined) throw new Error(`${method.path} has no handler`);
        implementation[name] = serve(method, handler) as UntypedServiceImplementation[string];
      }
      server.addService(passing, implementation);
    },
    recordOperators(record) {
      recordOperatorCall = record;
    },
    listen: (port, host = '0.0.0.0') =>
      new Promise((resolve, reject) => {
        server.bindAsync(formatAddress(host, port), transport, (error, bound) => {
          if (error) return reject(error);
          address = formatAddress(host, bound);
          resolve(bound);
        });
      }),
    setServing: (serving) => health.setServing(serving),
    async drain(graceMs, delayMs = 0) {
      if (delayMs > 0 && address !== undefined) {
        server.drain(address, delayMs + graceMs);
        await delay(delayMs);
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => server.forceShutdown(), graceMs);
        server.tryShutdown(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    },
  };
}
