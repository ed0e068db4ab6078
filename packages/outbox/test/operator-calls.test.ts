import { randomUUID } from 'node:crypto';
import { callersOf, rpcs } from '@truckroll/contract';
import type { AuditEntry } from '@truckroll/contract/gen/events/v1/audit';
import { onBehalfOf } from '@truckroll/telemetry';
import { NO_COMPANY, operatorCalls } from '../src/index.ts';

const USERS = '/truckroll.integrations.v1.UserAdminService/ListUsers';
const LIST = '/truckroll.billing.v1.InvoiceService/ListInvoices';
let entries: AuditEntry[];
let record: ReturnType<typeof operatorCalls>;

beforeEach(() => {
  entries = [];
  record = operatorCalls('scheduling', async (some) => void entries.push(...some));
});

const call = (rpc: string, request: unknown, { operator = 'ana', requestId = randomUUID() } = {}): Promise<void> =>
  onBehalfOf({ requestId, traceparent: undefined, operator }, () => record(rpc, request));

test("records a call's operator, company, object and request, and nothing else of its content", async () => {
  const [company_id, id, requestId] = [randomUUID(), randomUUID(), randomUUID()];
  await call(USERS, { company_id, id, contact_name: 'Dana Whitfield', path: 'Dana' }, { requestId });
  expect(entries).toMatchObject([
    {
      company_id,
      actor_kind: 'AUDIT_ACTOR_KIND_OPERATOR',
      actor_id: 'ana',
      action: 'user_admin.list_users',
      object_kind: 'services',
      object_id: 'scheduling',
      before: null,
      after: JSON.stringify({ id }),
      request_id: requestId,
      address: null,
    },
  ]);
  expect(JSON.stringify(entries)).not.toContain('Dana');
});

test.each([
  ['the collection of a list', { collection: { company_id: '7d1c5a3e-0000-4000-8000-000000000001' } }, '7d1c5a3e-0000-4000-8000-000000000001'],
  ['no company where the id is none', { company_id: "x'--", id: 'x' }, NO_COMPANY],
  ['no company where the request names none', { id: null }, NO_COMPANY],
  ['no company where a stream comes', undefined, NO_COMPANY],
])('takes the company from %s', async (_, request, company_id) => {
  await call(LIST, request);
  expect(entries).toMatchObject([{ company_id, after: null }]);
});

test('records the pages of a request once per rpc, company and object, and a new request again', async () => {
  const [requestId, company_id, other] = [randomUUID(), randomUUID(), randomUUID()];
  for (const after of ['', 'page 2', 'page 3']) await call(LIST, { company_id, path: 'jobs', after }, { requestId });
  expect(entries).toHaveLength(1);
  await call(LIST, { company_id: other, path: 'jobs' }, { requestId });
  await call(LIST, { company_id, path: 'invoices' }, { requestId });
  await call(LIST, { company_id, path: 'jobs' }, { requestId, operator: 'bo' });
  await call(USERS, { company_id, path: 'jobs' }, { requestId });
  await call(LIST, { company_id, path: 'jobs' });
  expect(entries).toHaveLength(6);
});

test('fails a call that could not be recorded, and records it when it is repeated', async () => {
  let away = true;
  record = operatorCalls('billing', async (some) => {
    if (away) throw new Error('the database is away');
    entries.push(...some);
  });
  const requestId = randomUUID();
  await expect(call(LIST, {}, { requestId })).rejects.toThrow('away');
  away = false;
  await call(LIST, {}, { requestId });
  expect(entries).toHaveLength(1);
});

test('records every rpc that operators may call, except intake and rpcs whose handlers record their changes', async () => {
  const silent: string[] = [];
  for (const rpc of rpcs.filter((each) => callersOf(each).has('operator'))) {
    entries = [];
    await call(rpc, {});
    if (entries.length === 0) silent.push(rpc.slice(rpc.lastIndexOf('.') + 1));
  }
  expect(silent.toSorted()).toEqual([
    'CompanyAdminService/CreateCompany',
    'CompanyAdminService/DeleteCompany',
    'CompanyAdminService/ErasePerson',
    'CompanyAdminService/FreezeCompany',
    'CompanyAdminService/UnfreezeCompany',
    'CompanyAdminService/UpdateCompany',
    'ErasureService/GetErasure',
    'FreezeService/Freeze',
    'FreezeService/GetFreeze',
    'FreezeService/PrepareFreeze',
    'FreezeService/RemoveFences',
    'FreezeService/Unfreeze',
    'ImportService/Import',
    'IntakeService/BookServiceRequest',
    'IntakeService/ChangeServiceRequestStatus',
    'IntakeService/CompleteInteraction',
    'IntakeService/GetInteraction',
    'IntakeService/GetServiceRequest',
    'IntakeService/RecordInteraction',
    'IntakeService/RecordServiceRequest',
    'KeyAdminService/CreateKey',
    'KeyAdminService/RevokeKey',
    'KeyAdminService/RotateKey',
    'UserAdminService/CreateUser',
    'UserAdminService/DeactivateUser',
    'UserAdminService/MoveUser',
  ]);
});
