// Without these checks, any client of the port could create keys for any company and lease deliveries with their signing secrets.
import { isRefusedCaller } from '@truckroll/contract';
import { KeyAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { DeliveryServiceService } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { IdentityServiceService } from '@truckroll/contract/gen/integrations/v1/identity';
import { openChannel, type Channel } from '@truckroll/grpc';
import { testCaller } from '@truckroll/testing';
import { refusal, startHarness } from './harness.ts';

let harness: Awaited<ReturnType<typeof startHarness>>;
const channels: Channel[] = [];
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(async () => {
  for (const channel of channels) channel.close();
  await harness.stop();
});

function stranger(...names: Parameters<typeof testCaller>[0][]): Channel {
  const channel = openChannel(`127.0.0.1:${harness.port()}`, { credentials: names.map(testCaller) });
  channels.push(channel);
  return channel;
}

test.each([[[]], [['gateway']], [['webhook-dispatcher']], [['scheduling']]] as Parameters<typeof testCaller>[0][][][])(
  'refuses to create a key for any caller except the operator: %j',
  async (names) => {
    const company = await harness.company();
    const user = await harness.user(company.id);
    const { createKey } = stranger(...names).client(KeyAdminServiceService);
    expect(isRefusedCaller(await refusal(createKey({ company_id: company.id, user_id: user.id, name: 'mine', limits: null })))).toBe(true);
    expect((await harness.keys.listKeys({ company_id: company.id })).keys).toEqual([]);
  },
);

test.each([[[]], [['gateway']], [['operator']], [['billing']]] as Parameters<typeof testCaller>[0][][][])(
  'leases deliveries with their signing secrets to no caller except the dispatcher: %j',
  async (names) => {
    const { lease } = stranger(...names).client(DeliveryServiceService);
    expect(
      isRefusedCaller(
        await refusal(
          lease({
            worker_id: 'mine',
            max_deliveries: 100,
            max_in_flight_per_endpoint: 10,
            excluded_endpoint_ids: [],
            busy_companies: [],
            taken_delivery_ids: [],
          }),
        ),
      ),
    ).toBe(true);
  },
);

test('refuses to authenticate keys for a component other than the gateway', async () => {
  const { authenticate } = stranger('webhook-dispatcher').client(IdentityServiceService);
  expect(isRefusedCaller(await refusal(authenticate({ key_hash: Buffer.alloc(32) })))).toBe(true);
});
