import { createLog } from '@truckroll/telemetry';
import { createComponent, type BackgroundPart, type ComponentKit } from '../src/index.ts';

const CONFIG = { host: '127.0.0.1', port: 0, metricsPort: 0, logLevel: 'silent', otlpEndpoint: undefined, otlpTracesEndpoint: undefined } as const;

/** A component that notes what happens to it, in order. */
function scene(add: (kit: ComponentKit<object>, part: (name: string, own?: Partial<BackgroundPart>) => BackgroundPart) => void) {
  const events: string[] = [];
  const lines: Record<string, unknown>[] = [];
  const part = (name: string, own: Partial<BackgroundPart> = {}): BackgroundPart => ({
    name,
    start: async () => void events.push(`start ${name}`),
    stop: async () => void events.push(`stop ${name}`),
    ...own,
  });
  const service = createComponent({
    name: 'trial',
    config: { ...CONFIG, drainMs: 20, drainDelayMs: 10 },
    log: createLog('trial', 'info', { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) }),
    create(kit) {
      add(kit, part);
      return {
        listen: async (port, host) => (events.push(`listen ${host}:${port}`), 7),
        setServing: (serving) => void events.push(`serving ${serving}`),
        drain: async (graceMs, delayMs) => void events.push(`drain ${graceMs} ${delayMs}`),
      };
    },
  });
  const ready = async (port: number) => (await (await fetch(`http://127.0.0.1:${port}/readyz`)).json()) as object;
  return { service, events, lines, ready };
}

test('starts foundations before it listens and parts after it, and stops in reverse once its calls have ended', async () => {
  let stopping: AbortSignal | undefined;
  const { service, events, ready, lines } = scene((kit, part) => {
    stopping = kit.stopping;
    for (const name of ['a', 'b']) kit.background(part(name));
    for (const name of ['pool', 'cache']) kit.foundation(part(name));
    kit.check('pool', () => undefined);
  });
  const { port, metricsPort } = await service.start();
  expect(port).toBe(7);
  expect(await ready(metricsPort)).toEqual({ ready: true, checks: { serving: 'ok', pool: 'ok' } });
  expect(stopping!.aborted).toBe(false);
  await Promise.all([service.destroy(), service.destroy()]);
  expect(stopping!.reason).toMatchObject({ message: 'trial is stopping' });
  expect(events).toEqual([
    ...['start pool', 'start cache', 'listen 127.0.0.1:0', 'start a', 'start b', 'serving true'],
    ...['serving false', 'drain 20 10', 'stop b', 'stop a', 'stop cache', 'stop pool'],
  ]);
  expect(lines.map(({ msg }) => msg)).toEqual(['serving', 'stopped']);
  await expect(ready(metricsPort)).rejects.toThrow();
});

test('is not ready while it drains its calls', async () => {
  let states: object[] = [];
  let port = 0;
  const { service, events, ready } = scene((kit, part) =>
    kit.background(
      part('asks', {
        stop: async () => {
          states = [await ready(port)];
        },
      }),
    ),
  );
  port = (await service.start()).metricsPort;
  await service.destroy();
  expect([states, events.at(-1)]).toEqual([[{ ready: false, checks: { serving: 'failed' } }], 'drain 20 10']);
});

test('starts no further part once it is stopped, and stops those that have begun to start', async () => {
  const beginning = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const { service, events, lines } = scene((kit, part) => {
    kit.background(part('slow', { start: () => (begun.resolve(), beginning.promise) }));
    kit.background(part('later'));
  });
  const starting = service.start();
  await begun.promise;
  const stopped = service.destroy();
  await new Promise(setImmediate);
  expect(events).toEqual(['listen 127.0.0.1:0', 'serving false']);
  beginning.resolve();
  await expect(starting).rejects.toThrow('trial is stopping');
  await stopped;
  expect(events).toEqual(['listen 127.0.0.1:0', 'serving false', 'drain 20 10', 'stop slow']);
  expect(lines.map(({ msg }) => msg)).toEqual(['stopped']);
});

test('never serves if it is stopped while its last part starts', async () => {
  const beginning = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const { service, events } = scene((kit, part) => kit.background(part('slow', { start: () => (begun.resolve(), beginning.promise) })));
  const starting = service.start();
  await begun.promise;
  const stopped = service.destroy();
  beginning.resolve();
  await Promise.all([starting, stopped]);
  expect(events).not.toContain('serving true');
});

test('stops the other parts if one fails to stop, and logs which', async () => {
  const { service, events, lines } = scene((kit, part) => {
    kit.foundation(part('pool'));
    kit.background(part('a'));
    kit.background(part('broken', { stop: () => Promise.reject(new Error('no luck')) }));
  });
  await service.start();
  await service.destroy();
  expect(events.slice(-2)).toEqual(['stop a', 'stop pool']);
  expect(lines).toContainEqual(expect.objectContaining({ level: 'error', part: 'broken', msg: 'a background part failed to stop' }));
});

test('stops a part whose start failed, which may have begun its work', async () => {
  const { service, events } = scene((kit, part) => kit.background(part('broken', { start: () => Promise.reject(new Error('no luck')) })));
  await expect(service.start()).rejects.toThrow('no luck');
  await service.destroy();
  expect(events.at(-1)).toBe('stop broken');
});

test('stops a foundation that never started', async () => {
  const { service, events } = scene((kit, part) => {
    kit.foundation(part('broken', { start: () => Promise.reject(new Error('no luck')) }));
    kit.foundation(part('later'));
  });
  await expect(service.start()).rejects.toThrow('no luck');
  await service.destroy();
  expect(events).toEqual(['serving false', 'drain 20 10', 'stop later', 'stop broken']);
});
