import { callers, callersOf, operations, rpcs } from '../src/index.ts';

test('every rpc says who may call it', () => {
  expect(rpcs.length).toBeGreaterThan(70);
  expect(rpcs.filter((rpc) => callersOf(rpc).size === 0)).toEqual([]);
});

test('what has a public route may be called by the gateway, and what has none only to find out who calls, what else is wrong with a request, or what several ask for', () => {
  const routed = new Set(operations.map(({ rpc }) => rpc));
  const open = rpcs.filter((rpc) => callersOf(rpc).has('gateway'));
  expect(open.filter((rpc) => !routed.has(rpc)).sort()).toEqual([
    '/truckroll.integrations.v1.IdentityService/Authenticate',
    '/truckroll.integrations.v1.IdentityService/TouchKeys',
    '/truckroll.integrations.v1.WebhookService/CheckWebhookTarget',
    '/truckroll.records.v1.RecordReadService/BatchGetRecords',
  ]);
  expect([...routed].filter((rpc) => !open.includes(rpc))).toEqual([]);
});

test('signing secrets go to the dispatcher, and keys are made by the operator, alone', () => {
  expect([...callersOf('/truckroll.integrations.v1.DeliveryService/Lease')]).toEqual(['webhook-dispatcher']);
  expect([...callersOf('/truckroll.integrations.v1.KeyAdminService/CreateKey')]).toEqual(['operator']);
  expect([...callersOf('/truckroll.records.v1.ImportService/Import')]).toEqual(['operator']);
});

test('what the contract does not have may be called by nobody', () => {
  expect(callersOf('/truckroll.integrations.v1.KeyAdminService/Other').size).toBe(0);
  expect(callers).toEqual(expect.arrayContaining(['gateway', 'webhook-dispatcher', 'operator', 'scheduling', 'billing', 'reporting', 'integrations']));
});
