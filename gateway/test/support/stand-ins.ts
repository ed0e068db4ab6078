// Real gRPC servers with given answers, to test the gateway's decisions: what it sends, how it converts answers, how it handles outages.
import { randomUUID } from 'node:crypto';
import { ApiError, codec, generateApiKey, hashApiKey } from '@truckroll/contract';
import { Invoice, InvoiceServiceService, type ListInvoicesRequest, type GetInvoiceRequest } from '@truckroll/contract/gen/billing/v1/invoices';
import { CompanyServiceService } from '@truckroll/contract/gen/integrations/v1/company';
import { IdentityServiceService, type KeyUse, type Principal } from '@truckroll/contract/gen/integrations/v1/identity';
import { RecordReadServiceService } from '@truckroll/contract/gen/records/v1/record_reads';
import {
  AssignmentCommandServiceService,
  type AddAssignmentRequest,
  type RemoveAssignmentRequest,
} from '@truckroll/contract/gen/scheduling/v1/assignment_commands';
import type { Visit } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import { createGrpcServer, type GrpcServer } from '@truckroll/grpc';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { testConfig } from '@truckroll/testing';

export interface Identities {
  port: number;
  asked: number;
  uses: KeyUse[];
  /** Principals by the key's hash in hex, or by the issuer, subject and company of a user. */
  principals: Map<string, Principal>;
  addKey(overrides?: Partial<Principal>): { key: string; principal: Principal };
  /** While set, every call fails with this error. */
  failure: Error | undefined;
  /** Hashes of keys in hex, or users, in the order of the calls. */
  questions: string[];
  /** Delay in ms before an answer is sent; its content is decided before. */
  slowMs: number;
  /** Answers are sent when it resolves. */
  gate: Promise<void> | undefined;
  stop(): Promise<void>;
}

export function userName(issuer: string, subject: string, companyId: string): string {
  return [issuer, subject, companyId].join(' ');
}

export async function standInIdentities(port = 0): Promise<Identities> {
  const server = createGrpcServer({ log: silentLog, metrics: createMetrics('test'), callers: { accepted: testConfig.callerCredentials } });
  const identities: Identities = {
    port: 0,
    asked: 0,
    uses: [],
    principals: new Map(),
    failure: undefined,
    questions: [],
    slowMs: 0,
    gate: undefined,
    addKey(overrides = {}) {
      const key = generateApiKey();
      const principal: Principal = {
        company_id: randomUUID(),
        company_name: 'Test Company',
        time_zone: 'America/Chicago',
        kind: 'PRINCIPAL_KIND_KEY',
        key_id: randomUUID(),
        user_id: randomUUID(),
        limits: null,
        company_limits: null,
        highest_limits: null,
        expires_at: null,
        sandbox: false,
        ...overrides,
      };
      identities.principals.set(hashApiKey(key).toString('hex'), principal);
      return { key, principal };
    },
    stop: () => server.drain(100),
  };
  server.implement(IdentityServiceService, {
    authenticate: async ({ key_hash: hash, user }) => {
      identities.asked++;
      const name = user ? userName(user.issuer, user.subject, user.company_id) : Buffer.from(hash ?? []).toString('hex');
      identities.questions.push(name);
      if (identities.failure !== undefined) throw identities.failure;
      const principal = identities.principals.get(name);
      await identities.gate;
      if (identities.slowMs > 0) await new Promise((resolve) => setTimeout(resolve, identities.slowMs));
      return { principal };
    },
    touchKeys: ({ uses }) => {
      identities.uses.push(...uses);
      return {};
    },
  });
  server.implement(CompanyServiceService, {
    getCompany: ({ key }) => ({ data: { id: key?.company_id ?? '', name: 'Test "Company"', timezone: key?.time_zone ?? '', currency: 'USD' } }),
  });
  identities.port = await listening(server, port);
  return identities;
}

export interface Invoices {
  port: number;
  lists: ListInvoicesRequest[];
  gets: GetInvoiceRequest[];
  /** Number of gets that arrived in one call with others. */
  together: number;
  requestIds: string[];
  data: Invoice[];
  next: Buffer;
  failure: Error | undefined;
  /** Lists are answered when it resolves. */
  gate: Promise<void> | undefined;
  stop(): Promise<void>;
}

export async function standInInvoices(port = 0): Promise<Invoices> {
  const server = createGrpcServer({ log: silentLog, metrics: createMetrics('test'), callers: { accepted: testConfig.callerCredentials } });
  const invoices: Invoices = {
    port: 0,
    lists: [],
    gets: [],
    together: 0,
    requestIds: [],
    data: [],
    next: Buffer.alloc(0),
    failure: undefined,
    gate: undefined,
    stop: () => server.drain(100),
  };
  server.implement(InvoiceServiceService, {
    listInvoices: async (request, context) => {
      invoices.lists.push(request);
      invoices.requestIds.push(context.requestId);
      await invoices.gate;
      if (invoices.failure !== undefined) throw invoices.failure;
      return { data: invoices.data, next: invoices.next };
    },
    getInvoice: (request) => {
      invoices.gets.push(request);
      const data = invoices.data.find(({ id }) => id === request.key?.id);
      if (data === undefined) throw ApiError.notFound();
      return { data };
    },
  });
  server.implement(RecordReadServiceService, {
    batchGetRecords: ({ keys }) => {
      invoices.together += keys.length;
      return {
        reads: keys.map((key) => {
          invoices.gets.push({ key });
          const data = invoices.data.find(({ id }) => id === key.id);
          return data === undefined ? {} : { data: Buffer.from(Invoice.encode(data).finish()) };
        }),
      };
    },
  });
  invoices.port = await listening(server, port);
  return invoices;
}

export interface Commands {
  port: number;
  added: AddAssignmentRequest[];
  removed: RemoveAssignmentRequest[];
  stop(): Promise<void>;
}

/** Accepts every write and marks the second one with the same key as a replay. */
export async function standInCommands(): Promise<Commands> {
  const server = createGrpcServer({ log: silentLog, metrics: createMetrics('test'), callers: { accepted: testConfig.callerCredentials } });
  const commands: Commands = { port: 0, added: [], removed: [], stop: () => server.drain(100) };
  const data = codec('truckroll.scheduling.v1.Visit').decode(new Uint8Array()) as Visit;
  server.implement(AssignmentCommandServiceService, {
    addAssignment: (request, context) => {
      const replayed = commands.added.some(({ idempotency_key: key }) => key === request.idempotency_key);
      commands.added.push(request);
      const replay = replayed ? { 'idempotent-replayed': 'true' } : {};
      context.sendMetadata({ 'http-status': '201', 'http-location': '/v1/job-assignments/new', ...replay });
      return { data, notification: { status: 'NOTIFICATION_STATUS_NOT_REQUESTED' } };
    },
    removeAssignment: (request) => {
      commands.removed.push(request);
      return { data, notification: { status: 'NOTIFICATION_STATUS_NOT_REQUESTED' } };
    },
  });
  commands.port = await listening(server, 0);
  return commands;
}

export interface Unready {
  port: number;
  serve(): void;
  stop(): Promise<void>;
}

/** A server that answers health checks with NOT_SERVING until `serve` is called. */
export async function standInUnready(): Promise<Unready> {
  const server = createGrpcServer({ log: silentLog, metrics: createMetrics('test'), callers: { accepted: testConfig.callerCredentials } });
  return { port: await server.listen(0, '127.0.0.1'), serve: () => server.setServing(true), stop: () => server.drain(100) };
}

async function listening(server: GrpcServer, port: number): Promise<number> {
  const bound = await server.listen(port, '127.0.0.1');
  server.setServing(true);
  return bound;
}
