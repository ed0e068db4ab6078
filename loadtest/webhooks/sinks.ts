import { fork } from 'node:child_process';
import { join } from 'node:path';
import { parseInstant } from '@truckroll/contract';
import { choosePort } from '@truckroll/local-stack';

/** Event id, timestamp of the event, and time of complete receipt in µs. */
export type Receipt = readonly [id: string, timestamp: string, receivedAt: number];

export interface Sinks {
  readonly pid: number;
  /** Settings for the services that send to them. All receivers share one address, so the limit of connections per address is lifted. */
  readonly environment: Readonly<Record<string, string>>;
  /** `well` and `uncounted` answer at once, `uncounted` without being counted; `hanging` never answers, `slow` answers after 10 s, `dead` refuses connections. */
  readonly urls: Readonly<Record<'well' | 'uncounted' | 'hanging' | 'slow' | 'dead', string>>;
  /** Microseconds from an event's timestamp to its first receipt, for each event since the last call. */
  take(): number[];
  until(count: number): Promise<void>;
  stop(): void;
}

export async function startSinks(): Promise<Sinks> {
  const ports: number[] = [];
  for (let i = 0; i < 5; i++) ports.push(await choosePort(new Set(ports)));
  const [well, uncounted, hanging, slow, dead] = ports as [number, number, number, number, number];
  const child = fork(join(import.meta.dirname, 'sink-main.ts'), [well, uncounted, hanging, slow].map(String));
  const seen = new Set<string>();
  let latencies: number[] = [];
  let check = (): void => undefined;
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject).once('exit', (code) => reject(new Error(`the receivers ended with ${code}`)));
    child.on('message', (message: 'ready' | Receipt[]) => {
      if (message === 'ready') return resolve();
      for (const [id, timestamp, receivedAt] of message) {
        if (seen.has(id)) continue;
        seen.add(id);
        latencies.push(receivedAt - (parseInstant(timestamp) as number));
      }
      check();
    });
  });
  const target = (port: number): string => `127.0.0.1:${port}`;
  const url = (port: number): string => `http://${target(port)}/hooks`;
  return {
    pid: child.pid as number,
    environment: { WEBHOOK_ALLOWED_TARGETS: ports.map(target).join(), WEBHOOK_MAX_CONNECTIONS_PER_ADDRESS: '10000' },
    urls: { well: url(well), uncounted: url(uncounted), hanging: url(hanging), slow: url(slow), dead: url(dead) },
    take() {
      const taken = latencies;
      latencies = [];
      return taken;
    },
    until: (count) =>
      new Promise((resolve) => {
        check = () => {
          if (latencies.length >= count) resolve();
        };
        check();
      }),
    stop: () => void child.kill(),
  };
}
