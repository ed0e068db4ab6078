// Records operators' calls in the audit trail, each before it is served, because its work may take many transactions.
import { isUuid } from '@truckroll/contract';
import type { AuditEntry } from '@truckroll/contract/gen/events/v1/audit';
import type { RecordOperatorCall } from '@truckroll/grpc';
import type { Queryable } from '@truckroll/postgres';
import { gather } from '@truckroll/process';
import { append } from './append.ts';
import { NO_COMPANY, auditEntry, eventOfEntry, type AuditedChange, type AuditedService } from './audit.ts';

/** Calls not recorded here, because their handlers record each change in its own transaction. */
const RECORDED_AS_CHANGES: ReadonlySet<string> = new Set([
  '/truckroll.integrations.v1.CompanyAdminService/CreateCompany',
  '/truckroll.integrations.v1.CompanyAdminService/UpdateCompany',
  '/truckroll.integrations.v1.CompanyAdminService/ErasePerson',
  '/truckroll.integrations.v1.UserAdminService/CreateUser',
  '/truckroll.integrations.v1.UserAdminService/DeactivateUser',
  '/truckroll.integrations.v1.UserAdminService/MoveUser',
  '/truckroll.integrations.v1.KeyAdminService/CreateKey',
  '/truckroll.integrations.v1.KeyAdminService/RevokeKey',
  '/truckroll.integrations.v1.KeyAdminService/RotateKey',
  '/truckroll.records.v1.ImportService/Import',
  // Nothing but one entry may name a deleted company: see services/integrations/src/companies/leave.ts.
  '/truckroll.integrations.v1.CompanyAdminService/DeleteCompany',
  '/truckroll.records.v1.ErasureService/GetErasure',
  // Integrations records both, and the calls in between are repeated.
  '/truckroll.integrations.v1.CompanyAdminService/FreezeCompany',
  '/truckroll.integrations.v1.CompanyAdminService/UnfreezeCompany',
  '/truckroll.records.v1.FreezeService/GetFreeze',
  '/truckroll.records.v1.FreezeService/PrepareFreeze',
  '/truckroll.records.v1.FreezeService/Freeze',
  '/truckroll.records.v1.FreezeService/Unfreeze',
  '/truckroll.records.v1.FreezeService/RemoveFences',
]);
/** Not recorded: companies' systems call it all day, each call publishes events anyway, and audit entries halved its throughput. */
const INTAKE = '/truckroll.scheduling.v1.IntakeService/';
const MOST_TOGETHER = 1000;
const MOST_REMEMBERED = 1000;
const PATH = /^[a-z/-]{1,100}$/;

/** For `recordOperators` of a service that publishes its audit entries (decisions §15): appends them to the outbox of `db`. */
export function publishOperatorCalls(db: Queryable, service: AuditedService): RecordOperatorCall {
  return operatorCalls(service, (entries) =>
    append(
      db,
      entries.map((entry) => eventOfEntry(service, entry)),
    ),
  );
}

/** Records operators' calls with `store`. Calls with the same request id, operator, rpc, company and object, such as the pages of a list, share one entry. */
export function operatorCalls(service: string, store: (entries: readonly AuditEntry[]) => Promise<void>): RecordOperatorCall {
  const storeWithOthers = gather<AuditEntry, undefined>(
    () => 1 / MOST_TOGETHER,
    async (entries) => {
      await store(entries);
      return [];
    },
  );
  const remembered = new Set<string>();
  return async (rpc, request) => {
    if (RECORDED_AS_CHANGES.has(rpc) || rpc.startsWith(INTAKE)) return;
    const entry = auditEntry(callOf(service, rpc, request ?? {}));
    const { request_id, actor_id, company_id, action, after } = entry;
    const command = [request_id, actor_id, company_id, action, after].join(' ');
    if (remembered.has(command)) return;
    await storeWithOthers(entry);
    if (remembered.size === MOST_REMEMBERED) remembered.clear();
    remembered.add(command);
  };
}

interface CallRequest {
  company_id?: string | null;
  collection?: { company_id: string } | null;
  id?: string | null;
  path?: string;
}

/** The action of `/truckroll.integrations.v1.KeyAdminService/ListKeys` is `key_admin.list_keys`. */
function callOf(service: string, rpc: string, { company_id, collection, id, path }: CallRequest): AuditedChange {
  const [, name, method] = /([A-Za-z]+)Service\/([A-Za-z]+)$/.exec(rpc) ?? [];
  const company = company_id ?? collection?.company_id ?? '';
  const of = { ...(isUuid(id ?? '') ? { id } : {}), ...(PATH.test(path ?? '') ? { path } : {}) };
  return {
    companyId: isUuid(company) ? company : NO_COMPANY,
    action: `${snakeCase(name)}.${snakeCase(method)}`,
    object: { kind: 'services', id: service },
    after: Object.keys(of).length > 0 ? JSON.stringify(of) : undefined,
  };
}

const snakeCase = (name = ''): string => name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase();
