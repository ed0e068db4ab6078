// Whether requests are released while their connection stays open.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Agent, get, type IncomingMessage } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { startGateway, untilMetric } from './support/gateway.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

test('no timer keeps a request in memory once it is answered and its connection has had the next one', async () => {
  const gateway = await startGateway();
  await untilMetric(gateway, 'gateway_redis_up', 1);
  const requests: WeakRef<IncomingMessage>[] = [];
  const sockets = new Set<IncomingMessage['socket']>();
  const note = (message: unknown): void => {
    const { request } = message as { request: IncomingMessage };
    if (!request.url?.startsWith('/v1/')) return;
    requests.push(new WeakRef(request));
    sockets.add(request.socket);
  };
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { authorization: `Bearer ${gateway.key}` };
  const ask = (): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      get(`${gateway.url}/v1/invoices?limit=1`, { agent, headers }, (answer) => answer.resume().once('end', () => resolve(answer.statusCode))).once(
        'error',
        reject,
      );
    });
  subscribe('http.server.request.start', note);
  try {
    for (let sent = 0; sent < 20; sent++) expect(await ask()).toBe(200);
    for (let looked = 0; looked < 10; looked++) {
      await turn();
      collectGarbage();
    }
    expect([...sockets].map(({ destroyed }) => destroyed)).toEqual([false]);
    expect(requests).toHaveLength(20);
    expect(requests.slice(0, -1).filter((request) => request.deref() !== undefined)).toHaveLength(0);
  } finally {
    unsubscribe('http.server.request.start', note);
    agent.destroy();
    await gateway.stop();
  }
});
