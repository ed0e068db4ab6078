import type { LeaseRequest } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { chooseLeased, type FreeSlots, type NewlyQueued } from '../src/webhooks/queue/choose.ts';

type Delivery = NewlyQueued & { name: string };
/** `a1/x>e`: delivery 1 of company a about subject x to endpoint e. */
function delivery(name: string, state: NewlyQueued['state'] = 'PENDING'): Delivery {
  const [, company_id, subject, endpointId] = /^(\w)\d\/(\w)>(\w)$/.exec(name) as unknown as [string, string, string, string];
  return { name, event: { company_id, subject }, endpointId, state };
}
const request = (fields: Partial<LeaseRequest> = {}): LeaseRequest =>
  ({ max_deliveries: 10, excluded_endpoint_ids: [], busy_companies: [], ...fields }) as LeaseRequest;
const ENDPOINTS: FreeSlots[] = ['e', 'f', 'g'].map((id) => ({ id, free: 2 }));
const chosen = (deliveries: readonly (string | Delivery)[], fields: Partial<LeaseRequest> = {}, endpoints = ENDPOINTS): string[] =>
  [
    ...chooseLeased(
      deliveries.map((each) => (typeof each === 'string' ? delivery(each) : each)),
      endpoints,
      request(fields),
    ),
  ].map(({ name }) => name);

test('leases only the first delivery of a subject to an endpoint', () => {
  expect(chosen(['a1/x>e', 'a2/x>e', 'a3/y>e', 'a4/x>f'])).toEqual(['a1/x>e', 'a3/y>e', 'a4/x>f']);
});

test('leases no delivery behind one of its subject that must wait', () => {
  expect(chosen(['a1/x>e', 'a2/x>e', 'b3/y>f'], { busy_companies: [{ company_id: 'a', max_deliveries: 0 }] })).toEqual(['b3/y>f']);
});

test('leases only pending deliveries', () => {
  expect(chosen([delivery('a1/x>e', 'SKIPPED'), 'a2/y>e'])).toEqual(['a2/y>e']);
});

test('leases no more deliveries of an endpoint than it has free slots, and none of an unknown or excluded one', () => {
  expect(chosen(['a1/x>e', 'a2/y>e', 'a3/z>e'])).toEqual(['a1/x>e', 'a2/y>e']);
  expect(chosen(['a1/x>h', 'a2/y>f', 'a3/x>e'], { excluded_endpoint_ids: ['f'] })).toEqual(['a3/x>e']);
  expect(
    chosen(['a1/x>e', 'a2/y>f', 'a3/z>f'], {}, [
      { id: 'e', free: -1 },
      { id: 'f', free: 1 },
    ]),
  ).toEqual(['a2/y>f']);
});

test.each<[Partial<LeaseRequest>, string[]]>([
  [{}, ['a1/x>e', 'b3/x>f', 'a2/y>e', 'b4/y>f']],
  [{ max_of_company: 1 }, ['a1/x>e', 'b3/x>f']],
  [{ max_of_company: 1, busy_companies: [{ company_id: 'a', max_deliveries: 2 }] }, ['a1/x>e', 'b3/x>f', 'a2/y>e']],
  [{ max_deliveries: 3 }, ['a1/x>e', 'b3/x>f', 'a2/y>e']],
  [{ max_deliveries: 0 }, []],
])('with the limits %j, lets companies take turns: %j', (limits, names) => {
  expect(chosen(['a1/x>e', 'a2/y>e', 'b3/x>f', 'b4/y>f'], limits)).toEqual(names);
});
