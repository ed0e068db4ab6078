// A stand-in for reporting's rpcs: records the gateway's requests and returns given answers.
import { codec } from '@truckroll/contract';
import type { CollectionsRow, GetCollectionsReportRequest } from '@truckroll/contract/gen/reporting/v1/collections_report';
import type { GetInvoiceActivityReportRequest } from '@truckroll/contract/gen/reporting/v1/invoice_activity_report';
import type { GetJobProfitabilityReportRequest } from '@truckroll/contract/gen/reporting/v1/job_profitability_report';
import { ReportsServiceService } from '@truckroll/contract/gen/reporting/v1/reports';
import type { GetTechnicianParticipationProfitabilityReportRequest } from '@truckroll/contract/gen/reporting/v1/technician_participation_report';
import { createGrpcServer } from '@truckroll/grpc';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { testConfig } from '@truckroll/testing';

export interface Reports {
  port: number;
  /** The latest request for each report. */
  asked: {
    invoiceActivity?: GetInvoiceActivityReportRequest;
    collections?: GetCollectionsReportRequest;
    jobs?: GetJobProfitabilityReportRequest;
    participation?: GetTechnicianParticipationProfitabilityReportRequest;
  };
  /** Rows of the collections report. */
  rows: CollectionsRow[];
  next: Buffer;
  timeZone: string;
  failure: Error | undefined;
  stop(): Promise<void>;
}

/** The report's parameters in an empty answer, regardless of the request. */
function echo<T>(name: string): T {
  return codec(`truckroll.reporting.v1.${name}`).decode(new Uint8Array()) as T;
}

export async function standInReports(): Promise<Reports> {
  const server = createGrpcServer({ log: silentLog, metrics: createMetrics('test'), callers: { accepted: testConfig.callerCredentials } });
  const reports: Reports = {
    port: 0,
    asked: {},
    rows: [],
    next: Buffer.alloc(0),
    timeZone: 'America/Denver',
    failure: undefined,
    stop: () => server.drain(100),
  };
  const answer = () => {
    if (reports.failure !== undefined) throw reports.failure;
    return { next: reports.next, time_zone: reports.timeZone };
  };
  server.implement(ReportsServiceService, {
    getInvoiceActivityReport: (request) => {
      reports.asked.invoiceActivity = request;
      return { ...answer(), data: [], report: echo('InvoiceActivityReport') };
    },
    getCollectionsReport: (request) => {
      reports.asked.collections = request;
      return { ...answer(), data: reports.rows, report: echo('CollectionsReport') };
    },
    getJobProfitabilityReport: (request) => {
      reports.asked.jobs = request;
      return { ...answer(), data: [], report: echo('JobProfitabilityReport') };
    },
    getTechnicianParticipationProfitabilityReport: (request) => {
      reports.asked.participation = request;
      return { ...answer(), data: [], report: echo('TechnicianParticipationReport') };
    },
  });
  reports.port = await server.listen(0, '127.0.0.1');
  server.setServing(true);
  return reports;
}

export function collectionsRow(overrides: Partial<CollectionsRow> = {}): CollectionsRow {
  return { ...echo<CollectionsRow>('CollectionsRow'), period_start: '2026-01-01', period_end: '2026-02-01', currency: 'USD', ...overrides };
}
