import { createComponent, type BaseConfig, type ComponentKit, type Service } from '@truckroll/process';
import type { Logger } from '@truckroll/telemetry';
import type { CallerCheck } from './caller-check.ts';
import { createGrpcServer, type GrpcServer } from './server.ts';
import { callerCheckOf, type CallerConfig, type GrpcConfig } from './settings.ts';

export interface ServiceKit<C> extends ComponentKit<C> {
  readonly server: GrpcServer;
}

type ServiceConfig = BaseConfig & GrpcConfig & Partial<CallerConfig>;

export interface ServiceOptions<C extends ServiceConfig> {
  readonly name: string;
  readonly config: C;
  create(kit: ServiceKit<C>): void;
  readonly log?: Logger;
  /** Default: the contract's callers. Tests pass others. */
  readonly mayCall?: CallerCheck['mayCall'];
}

/** A component whose front is a gRPC server. `create` is called at once: it implements the rpcs and registers background parts, which start later. */
export function createService<C extends ServiceConfig>({ name, config, mayCall, create, log: given }: ServiceOptions<C>): Service {
  return createComponent({
    name,
    config,
    log: given,
    create(kit) {
      const server = createGrpcServer({
        log: kit.log,
        metrics: kit.metrics,
        maxConnectionAgeMs: config.maxConnectionAgeMs,
        callers: { ...callerCheckOf(config), mayCall },
        tls: config,
      });
      create({ ...kit, server });
      return server;
    },
  });
}
