// Fixtures for webhook tests: endpoints, events, and a worker that sends nothing.
import { randomUUID } from 'node:crypto';
import { now } from '@truckroll/contract';
import {
  AttemptError,
  type CompanyRoom,
  type LeaseRequest,
  type LeasedDelivery,
  type PublicEvent,
  type ReportRequest,
} from '@truckroll/contract/gen/integrations/v1/deliveries';
import type { CreateWebhookRequest, UpdateWebhookRequest } from '@truckroll/contract/gen/integrations/v1/webhooks';
import type { MailConfig } from '@truckroll/mail';
import { Database, createSession } from '@truckroll/postgres';
import { startHarness } from './harness.ts';

export const SECOND = 1_000_000;
export const DAY = 86_400 * SECOND;

export interface LeaseOptions {
  max?: number;
  cap?: number;
  without?: string[];
  worker?: string;
  share?: number;
  busy?: CompanyRoom[];
  taken?: string[];
}

function asked({ max = 100, cap = 10, without = [], worker = 'test', share, busy = [], taken = [] }: LeaseOptions): LeaseRequest {
  return {
    worker_id: worker,
    max_deliveries: max,
    max_in_flight_per_endpoint: cap,
    excluded_endpoint_ids: without,
    max_of_company: share ?? null,
    busy_companies: busy,
    taken_delivery_ids: taken,
  };
}

export async function startDesk(mail: MailConfig = {}) {
  const harness = await startHarness(mail);
  const { webhooks, deliveries, log } = harness;
  const opened: Database[] = [];

  return {
    ...harness,

    async endpoint({ email, ...fields }: Partial<CreateWebhookRequest> & { email?: string } = {}) {
      const company = await harness.company();
      const user = await harness.user(company.id, email);
      const caller = { company_id: company.id, time_zone: 'America/Chicago', user_id: user.id };
      const request = { caller, name: 'Lead sync', url: 'https://example.com/hook', event_types: ['service_request.created'], ...fields };
      const { data } = await webhooks.createWebhook(request);
      const id = data!.id;
      return {
        id,
        company,
        user,
        caller,
        secret: data!.signing_secret,
        read: async () => (await webhooks.getWebhook({ key: { company_id: company.id, time_zone: 'America/Chicago', id } })).data!,
        update: (change: Partial<UpdateWebhookRequest>) => webhooks.updateWebhook({ caller, id, ...change }),
        async deliveries() {
          const collection = { company_id: company.id, time_zone: 'America/Chicago', limit: 100, after: Buffer.alloc(0), ids: [] };
          const { data } = await log.listWebhookDeliveries({ collection, webhook_id: id, status: [], event_type: [], progress: [] });
          return data.toReversed();
        },
        event: ({ data, ...fields }: Partial<PublicEvent> & { data?: object } = {}): PublicEvent => {
          const eventId = randomUUID();
          const type = fields.type ?? 'service_request.created';
          return {
            id: eventId,
            type,
            company_id: company.id,
            subject: randomUUID(),
            sequence: 1,
            timestamp: now(),
            body: Buffer.from(JSON.stringify({ id: eventId, type, data })),
            ...fields,
          };
        },
      };
    },

    fanOut: (...events: PublicEvent[]) => deliveries.fanOut({ events, dead_letter_ids: [] }),

    asked,
    lease: async (options: LeaseOptions = {}): Promise<LeasedDelivery[]> => (await deliveries.lease(asked(options))).deliveries,
    session: () => createSession({ url: harness.database.url, schema: 'integrations' }),

    /** The connection pool of another replica. `stop` closes it. */
    openDatabase(maxConnections = 2): Database {
      const database = new Database({ url: harness.database.url, schema: 'integrations', maxConnections });
      opened.push(database);
      return database;
    },

    async stop() {
      await Promise.all(opened.map((database) => database.close()));
      await harness.stop();
    },

    report: (delivery: LeasedDelivery, fields: Partial<ReportRequest> = {}) => deliveries.report(reportOf(delivery, fields)),

    /** Changes the database directly, for states that otherwise need time to pass. */
    async sql(text: string, values: unknown[] = []) {
      const session = await createSession({ url: harness.database.url, schema: 'integrations' });
      try {
        return (await session.query<Record<string, any>>({ text, values })).rows;
      } finally {
        await session.close();
      }
    },
  };
}

export function reportOf(delivery: LeasedDelivery, fields: Partial<ReportRequest> = {}): ReportRequest {
  return {
    delivery_id: delivery.delivery_id,
    lease_token: delivery.lease_token,
    response_status: 200,
    error: AttemptError.UNSPECIFIED,
    error_message: '',
    started_at: now() - SECOND,
    ended_at: now(),
    request_headers: [{ name: 'webhook-id', value: delivery.event_id }],
    response_headers: [{ name: 'content-type', value: 'text/plain' }],
    response_body: Buffer.from('thanks'),
    response_truncated: false,
    retry_after_seconds: null,
    resolved_address: '203.0.113.7',
    ...fields,
  };
}

export const FAILURE: Partial<ReportRequest> = { response_status: 500 };
