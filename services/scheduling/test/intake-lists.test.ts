// The lists of service requests and interactions, newest first.
import { randomUUID } from 'node:crypto';
import { ProjectionServiceService } from '@truckroll/contract/gen/records/v1/projections';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { IntakeListServiceService, type ListInteractionsRequest, type ListServiceRequestsRequest } from '@truckroll/contract/gen/scheduling/v1/intake_lists';
import { InteractionChannel, InteractionDirection, InteractionStatus } from '@truckroll/contract/gen/scheduling/v1/interactions';
import { ServiceRequestChannel, ServiceRequestStatus as Status } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import type { Callers } from '@truckroll/grpc';
import { startHarness, type Company, type Harness } from './harness.ts';

let harness: Harness;
let intake: Callers<typeof IntakeServiceService>;
let lists: Callers<typeof IntakeListServiceService>;

beforeAll(async () => {
  harness = await startHarness();
  intake = harness.channel.client(IntakeServiceService);
  lists = harness.channel.client(IntakeListServiceService);
}, 120_000);
afterAll(() => harness.stop());

/** All pages of a list. */
async function whole<R>({ id: company_id }: Company, limit: number, read: (collection: object) => Promise<{ data: R[]; next: Uint8Array }>): Promise<R[]> {
  const all: R[] = [];
  for (let after: Uint8Array = new Uint8Array(); ; ) {
    const { data, next } = await read({ company_id, time_zone: 'UTC', limit, after, ids: [] });
    expect(data.length).toBeLessThanOrEqual(limit);
    all.push(...data);
    if (next.length === 0) return all;
    after = next;
  }
}

const requests = (company: Company, filter: Partial<ListServiceRequestsRequest> = {}, limit = 100) =>
  whole(company, limit, (collection) => lists.listServiceRequests({ collection, status: [], ...filter } as ListServiceRequestsRequest));
const interactions = (company: Company, filter: Partial<ListInteractionsRequest> = {}, limit = 100) =>
  whole(company, limit, (collection) => lists.listInteractions({ collection, status: [], account_id: [], ...filter } as ListInteractionsRequest));

test('lists service requests newest first, on pages of any size, by status and time, of the company alone', async () => {
  const [company, other] = [harness.company(), harness.company()];
  const record = async (of: Company, id: string = randomUUID()): Promise<string> => {
    await intake.recordServiceRequest({ company_id: of.id, id, channel: ServiceRequestChannel.WEB });
    return id;
  };
  await record(other);
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) ids.unshift(await record(company));
  // Some of these have the same time.
  await Promise.all(Array.from({ length: 10 }, () => record(company)));
  const all = await requests(company);
  expect(all.map(({ number }) => number)).toContain('SR-15');
  expect(all.map(({ id }) => id).slice(-5)).toEqual(ids);
  for (const limit of [1, 4]) expect(await requests(company, {}, limit)).toEqual(all);

  await intake.changeServiceRequestStatus({ company_id: company.id, id: ids[1]!, status: Status.CONTACTED });
  await intake.changeServiceRequestStatus({ company_id: company.id, id: ids[3]!, status: Status.CLOSED });
  const changed = await requests(company, { status: [Status.CONTACTED, Status.CLOSED] }, 1);
  expect(changed.map(({ id, status }) => [id, status])).toEqual([
    [ids[1], Status.CONTACTED],
    [ids[3], Status.CLOSED],
  ]);
  const [from, before] = [all.at(-2)!.created_at, all.at(-4)!.created_at];
  expect((await requests(company, { from, before })).map(({ id }) => id)).toEqual([ids[2], ids[3]]);
  expect(await requests(company, { status: [Status.CLOSED], before: from })).toEqual([]);
});

test('lists interactions by when they began, newest first, and follows one that ends', async () => {
  const company = harness.company();
  const begin = async (started_at: number): Promise<string> => {
    const id = randomUUID();
    await intake.recordInteraction({ company_id: company.id, id, channel: InteractionChannel.CALL, direction: InteractionDirection.INBOUND, started_at });
    return id;
  };
  const at = 1_772_377_200_000_000;
  const [late, early] = [await begin(at + 5), await begin(at)];
  expect((await interactions(company, {}, 1)).map(({ id }) => id)).toEqual([late, early]);
  await intake.completeInteraction({ company_id: company.id, id: early, ended_at: at + 9 });
  const completed = await interactions(company, { status: [InteractionStatus.COMPLETED] });
  expect(completed).toMatchObject([{ id: early, ended_at: at + 9 }]);
  expect((await interactions(company, { from: at + 1 })).map(({ id }) => id)).toEqual([late]);
});

test('lists the interactions of several accounts newest first, with the other filters, and none of another company', async () => {
  const [company, other] = [harness.company(), harness.company()];
  const accounts = [randomUUID(), randomUUID(), randomUUID()];
  for (const { id } of [company, other])
    for (const account of accounts)
      await harness.database.query({
        text: `insert into names (company_id, kind, id, name, version) values ($1, 'accounts', $2, 'Whitfield', 0)`,
        values: [id, account],
      });
  const call = { channel: InteractionChannel.CALL, direction: InteractionDirection.INBOUND };
  const ids: string[] = [];
  const accountOf = [0, 1, 2, 0, 1, undefined];
  for (const of of accountOf) {
    const id = randomUUID();
    ids.unshift(id);
    for (const { id: company_id } of [company, other]) {
      const account_id = of === undefined ? null : accounts[of]!;
      await intake.recordInteraction({ company_id, id: company_id === company.id ? id : randomUUID(), account_id, ...call });
    }
  }
  await intake.completeInteraction({ company_id: company.id, id: ids[1]! });
  const found = async (filter: Partial<ListInteractionsRequest>): Promise<number[]> =>
    (await interactions(company, filter, 1)).map(({ id }) => ids.indexOf(id));
  expect(await found({ account_id: [accounts[0]!, accounts[1]!] })).toEqual([1, 2, 4, 5]);
  expect(await found({ account_id: [accounts[1]!, accounts[2]!], status: [InteractionStatus.IN_PROGRESS] })).toEqual([3, 4]);
  expect(await found({ account_id: [randomUUID()] })).toEqual([]);
});

test.each(['service-requests', 'interactions'])(
  'is unavailable while %s that an older release stored are prepared, and lists them afterwards',
  async (path) => {
    const company = harness.company();
    await intake.recordServiceRequest({ company_id: company.id, id: randomUUID(), channel: ServiceRequestChannel.WEB });
    const call = { channel: InteractionChannel.CALL, direction: InteractionDirection.INBOUND };
    await intake.recordInteraction({ company_id: company.id, id: randomUUID(), ...call });
    const list = (): Promise<unknown[]> => (path === 'interactions' ? interactions(company) : requests(company));
    const session = await harness.database.session();
    try {
      // Until then the service projects no rows again.
      await session.query({ text: `select pg_advisory_lock(hashtextextended('projections of ' || current_schema(), 0))` });
      const table = path.replace('-', '_');
      await harness.database.query({ text: `update ${table} set status = null, created_at = null where company_id = $1`, values: [company.id] });
      await expect(list()).rejects.toMatchObject({ status: 503, retryAfterSeconds: 2 });
    } finally {
      await session.close();
    }
    for await (const _ of harness.channel.client(ProjectionServiceService).reproject({ path }));
    expect(await list()).toHaveLength(1);
  },
);
