// What a company is charged for requests that no operation has handled.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { Limiter } from '../src/admission/limiter.ts';
import { Strangers } from '../src/auth/strangers.ts';
import { createRequestLog } from '../src/http/request-log.ts';
import { createApi } from '../src/routes/api.ts';
import { request } from './support/gateway.ts';
import { standInIdentities } from './support/stand-ins.ts';

test('charges a company once for a request to an unknown path', async () => {
  const metrics = createMetrics('test');
  const identities = await standInIdentities();
  const { principal } = identities.addKey();
  const charges: [string, number][] = [];
  const limiter = new Limiter();
  limiter.charge = (company, milliseconds) => void charges.push([company, milliseconds]);
  const draining = { active: false };
  const api = createApi({
    authentication: { authenticate: () => principal, known: () => undefined },
    strangers: new Strangers({ perMinute: 60, metrics }),
    limits: { consume: () => ({ policy: 'default', quota: 9, remaining: 8, resetSeconds: 60, ofCompany: false, exceeded: false }) },
    keyUses: { note: () => undefined } as never,
    limiter,
    noteShed: () => undefined,
    operations: [],
    compile: () => undefined as never,
    publicPages: (_req, _res, next) => next(),
    requestLog: createRequestLog(silentLog, metrics),
    draining,
    trustedProxies: [],
  });
  const server = createServer(api).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  expect((await request(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/unknown`)).status).toBe(404);
  expect(charges).toEqual([[principal.company_id, expect.any(Number)]]);
  server.close();
  server.closeAllConnections();
  await identities.stop();
});
