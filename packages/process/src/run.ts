import { readBuild } from '@truckroll/telemetry';
import { ConfigError } from './config.ts';
import type { Service } from './component.ts';
import { repairNode } from './driver/async-resource.ts';

/** Starts a service, stops it on SIGTERM or SIGINT, and exits with 0, or 1 on failure. Reports an invalid configuration in plain lines. */
export async function runService(name: string, create: () => Service): Promise<void> {
  repairNode();
  let service: Service;
  try {
    service = create();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    report(name, error);
    process.exitCode = 1;
    return;
  }
  const log = service.log;
  // The reader of the log may exit before the service does.
  process.stdout.on('error', () => undefined);
  service.metrics.watchProcess(readBuild(process.env));
  process.on('unhandledRejection', (error) => {
    log.error({ error }, 'unhandled promise rejection');
    end(1);
  });
  const stop = (signal: NodeJS.Signals) => {
    log.info({ signal }, 'stopping');
    setTimeout(() => end(1), service.stopLimitMs).unref();
    service.destroy().then(
      () => end(0),
      (error: unknown) => {
        log.error({ error }, 'stopping failed');
        end(1);
      },
    );
  };
  process.once('SIGTERM', stop).once('SIGINT', stop);
  try {
    await service.start();
    // Lets a parent process that started this one with an IPC channel wait instead of polling.
    process.send?.('serving', undefined, undefined, () => undefined);
  } catch (error) {
    if (process.exitCode !== undefined) return;
    if (error instanceof ConfigError) report(name, error);
    else log.error({ error }, 'starting failed');
    await service.destroy().catch(() => undefined);
    end(1);
  }
}

function report(name: string, error: ConfigError): void {
  process.stderr.write(`${name} cannot start:\n${error.message}\n`);
}

function end(code: number): void {
  process.exitCode = code;
  setTimeout(() => process.exit(code), 1000);
  process.stdout.write('', () => process.exit(code));
}
