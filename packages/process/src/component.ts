import { createLog, createMetrics, startTracing, type Logger, type Metrics } from '@truckroll/telemetry';
import { missingAddress } from './addresses.ts';
import { ConfigError } from './config.ts';
import { stopLimitMs, type BaseConfig } from './settings.ts';
import { startHealthServer, type ReadinessCheck, type HealthServer } from './health-server.ts';

/** A task that runs in the background: a relay, a consumer, a job. Started in order, stopped in reverse. */
export interface BackgroundPart {
  readonly name: string;
  /** Resolves when the component may answer calls. Parts that need Kafka may still be connecting then. */
  start(): Promise<void>;
  /** Finishes or abandons its work; abandoned work must be safe to resume. */
  stop(): Promise<void>;
}

/** Server that accepts calls: gRPC, or the gateway's HTTP. */
export interface Front {
  /** Binds; port 0 takes a free one. Rejects if the port is taken. Resolves to the port. */
  listen(port: number, host: string): Promise<number>;
  setServing(serving: boolean): void;
  /** Makes clients reconnect elsewhere but serves them for `delayMs`; then takes no new calls, and after `graceMs` cuts off running ones. */
  drain(graceMs: number, delayMs: number): Promise<void>;
}

export interface ComponentKit<C> {
  readonly name: string;
  readonly config: C;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** A part that calls depend on: started before the first call is taken, and stopped after the last has ended, even if never started. */
  foundation(part: BackgroundPart): void;
  background(part: BackgroundPart): void;
  /** The component is ready only while every check passes. */
  check(name: string, check: ReadinessCheck): void;
  /** Aborted when the component begins to stop, which ends endless answers such as streams. */
  readonly stopping: AbortSignal;
}

/** A component that can be started and destroyed, in its own process or in a test's. */
export interface Service {
  readonly name: string;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Time after which a hanging stop ends the process with exit code 1, before the platform kills it. Milliseconds. */
  readonly stopLimitMs: number;
  /** Waits for dependencies indefinitely. Resolves to the bound ports when calls are served. */
  start(): Promise<{ port: number; metricsPort: number }>;
  /** In order: not ready, no new calls, running calls finish, background parts stop, foundations stop. */
  destroy(): Promise<void>;
}

export interface ComponentOptions<C extends BaseConfig> {
  readonly name: string;
  readonly config: C;
  readonly log?: Logger | undefined;
  create(kit: ComponentKit<C>): Front;
}

/** Lifecycle of every process: telemetry starts first and stops last, foundations start before calls and stop after them. */
export function createComponent<C extends BaseConfig>({ name, config, create, ...given }: ComponentOptions<C>): Service {
  const log = given.log ?? createLog(name, config.logLevel);
  const metrics = createMetrics(name);
  const foundations: BackgroundPart[] = [];
  const parts: BackgroundPart[] = [];
  const started: BackgroundPart[] = [];
  const checks = new Map<string, ReadinessCheck>();
  const stopping = new AbortController();
  let serving = false;
  let starting: Promise<unknown> = Promise.resolve();
  let health: HealthServer | undefined;
  let stopTracing = async () => undefined as void;

  checks.set('serving', () => {
    if (!serving) throw new Error('not serving');
  });
  const front = create({
    name,
    config,
    log,
    metrics,
    stopping: stopping.signal,
    foundation: (part) => void foundations.push(part),
    background: (part) => void parts.push(part),
    check: (checkName, check) => void checks.set(checkName, check),
  });

  async function start(): Promise<{ port: number; metricsPort: number }> {
    stopTracing = await startTracing(name, config, log);
    // It listens on the same address as the front, and before it.
    health = await startHealthServer({ port: config.metricsPort, host: config.host, metrics, checks }).catch((error: unknown) => {
      const reason = missingAddress(error, config.host);
      throw reason === undefined ? error : new ConfigError(reason);
    });
    for (const part of foundations) await part.start();
    const port = await front.listen(config.port, config.host);
    for (const part of parts) {
      stopping.signal.throwIfAborted();
      started.push(part);
      await part.start();
    }
    if (!stopping.signal.aborted) {
      serving = true;
      front.setServing(true);
      log.info({ port, metricsPort: health.port }, 'serving');
    }
    return { port, metricsPort: health.port };
  }

  async function stop(): Promise<void> {
    serving = false;
    front.setServing(false);
    stopping.abort(new Error(`${name} is stopping`));
    await starting.catch(() => undefined);
    await front.drain(config.drainMs, config.drainDelayMs);
    for (const part of [...foundations, ...started].toReversed()) {
      await part.stop().catch((error: unknown) => log.error({ error, part: part.name }, 'a background part failed to stop'));
    }
    await health?.close();
    await stopTracing();
    log.info({}, 'stopped');
  }

  let stopped: Promise<void> | undefined;
  return {
    name,
    log,
    metrics,
    stopLimitMs: stopLimitMs(config),
    start: () => (starting = start()),
    destroy: () => (stopped ??= stop()),
  };
}
