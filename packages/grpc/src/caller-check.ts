import { ServerInterceptingCall, status as GrpcStatus, type ServerInterceptor } from '@grpc/grpc-js';
import { callersOf, type Caller } from '@truckroll/contract';
import type { Logger, Metrics } from '@truckroll/telemetry';
import { CREDENTIAL, OPERATOR, UNNAMED_OPERATOR, examine, type CallerCredentials } from './caller-credentials.ts';
import { UnaryCall } from './driver/unary-call.ts';

export interface CallerCheck {
  readonly accepted: CallerCredentials;
  /** Default: the contract's callers. Tests pass others. */
  readonly mayCall?: ((rpc: string) => ReadonlySet<Caller>) | undefined;
}

/** The only service open to every caller, because orchestrators call it. */
const OPEN = '/grpc.health.v1.Health/';
/** Minimum time between log lines about the same caller, rpc and reason: rejected callers may keep trying. */
const LINE_MS = 1000;

type Reason = 'no credential' | 'wrong credential' | 'not allowed';

/** Rejects calls before their messages are read: UNAUTHENTICATED without a valid credential, PERMISSION_DENIED if the contract does not allow the call. */
export function callerInterceptor({ accepted, mayCall = callersOf }: CallerCheck, log: Logger, metrics: Metrics): ServerInterceptor {
  const refusals = metrics.counter('grpc_server_refused_total', 'Calls whose caller had not proven that it may make them', ['caller', 'method', 'reason']);
  const lines = new Map<string, number>();

  function note(claimed: string, method: string, reason: Reason, peer: string): void {
    refusals.inc({ caller: claimed, method, reason });
    const line = `${claimed} ${method} ${reason}`;
    const now = performance.now();
    if (now - (lines.get(line) ?? -Infinity) < LINE_MS) return;
    lines.set(line, now);
    log.warn({ caller: claimed, method, reason, peer }, 'refused a call from a component');
  }

  return ({ path, responseStream }, call) => {
    if (path.startsWith(OPEN)) return new ServerInterceptingCall(call);
    const Call = responseStream ? ServerInterceptingCall : UnaryCall;
    return new Call(call, {
      start(next) {
        next({
          onReceiveMetadata(metadata, proceed) {
            const [entry] = metadata.get(CREDENTIAL);
            const { claimed, name, proven } = examine(entry?.toString(), accepted);
            if (proven && mayCall(path).has(claimed as Caller)) {
              if (claimed === 'operator') metadata.set(OPERATOR, name ?? UNNAMED_OPERATOR);
              return proceed(metadata);
            }
            const reason = entry === undefined ? 'no credential' : proven ? 'not allowed' : 'wrong credential';
            note(claimed, path, reason, call.getPeer());
            if (proven) call.sendStatus({ code: GrpcStatus.PERMISSION_DENIED, details: `${claimed} may not call ${path}` });
            else call.sendStatus({ code: GrpcStatus.UNAUTHENTICATED, details: `${path} needs the credential of a component that may call it` });
          },
        });
      },
    });
  };
}
