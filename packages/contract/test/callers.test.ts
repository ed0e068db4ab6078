import { callers, callersOf, operations, rpcs } from '../src/index.ts';

test('every rpc names its callers', () => {
  expect(rpcs.length).toBeGreaterThan(70);
  expect(rpcs.filter((rpc) => callersOf(rpc).size === 0)).toEqual([]);
});

test('the gateway may call every rpc with a public route, and without one only those for authentication, the log of requests, checks, batch reads, counts and the change feed', () => {
  const routed = new Set(operations.map(({ rpc }) => rpc));
  const open = rpcs.filter((rpc) => callersOf(rpc).has('gateway'));
  expect(open.filter((rpc) => !routed.has(rpc)).sort()).toEqual([
    '/truckroll.integrations.v1.EndpointCountService/CountEndpoints',
    '/truckroll.integrations.v1.IdentityService/Authenticate',
    '/truckroll.integrations.v1.IdentityService/TouchKeys',
    '/truckroll.integrations.v1.RequestLogService/StoreRequests',
    '/truckroll.integrations.v1.WebhookService/CheckWebhook',
    '/truckroll.records.v1.ChangeService/DigestRecords',
    '/truckroll.records.v1.ChangeService/FindChanged',
    '/truckroll.records.v1.ChangeService/ReadChanges',
    '/truckroll.records.v1.RecordReadService/BatchGetRecords',
    '/truckroll.scheduling.v1.ServiceRequestCountService/CountServiceRequests',
  ]);
  expect([...routed].filter((rpc) => !open.includes(rpc))).toEqual([]);
});

test('only the dispatcher gets signing secrets, and only the operator creates keys', () => {
  expect([...callersOf('/truckroll.integrations.v1.DeliveryService/Lease')]).toEqual(['webhook-dispatcher']);
  expect([...callersOf('/truckroll.integrations.v1.KeyAdminService/CreateKey')]).toEqual(['operator']);
  expect([...callersOf('/truckroll.records.v1.ImportService/Import')]).toEqual(['operator']);
});

test('an rpc that the contract does not have has no callers', () => {
  expect(callersOf('/truckroll.integrations.v1.KeyAdminService/Other').size).toBe(0);
  expect(callers).toEqual(expect.arrayContaining(['gateway', 'webhook-dispatcher', 'operator', 'scheduling', 'billing', 'reporting', 'integrations']));
});
