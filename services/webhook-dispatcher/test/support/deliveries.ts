// An in-memory DeliveryService with the parts of integrations' contract that the dispatcher's tests need.
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  DeliveryServiceService,
  type DeadLetter,
  type HttpHeader,
  type LeaseRequest,
  type LeasedDelivery,
  type PublicEvent,
  type RenewRequest,
  type ReportRequest,
  type ReportResponse,
} from '@truckroll/contract/gen/integrations/v1/deliveries';
import { createGrpcServer, type GrpcServer } from '@truckroll/grpc';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { testConfig } from '@truckroll/testing';

export interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly secret: Buffer;
  readonly headers?: HttpHeader[];
}

interface Delivery {
  readonly leased: LeasedDelivery;
  state: 'due' | 'leased' | 'reported';
}

export class Deliveries {
  readonly endpoints: Endpoint[] = [];
  readonly fanned: PublicEvent[] = [];
  readonly reports: ReportRequest[] = [];
  readonly leases: LeaseRequest[] = [];
  readonly renewals: RenewRequest[] = [];
  readonly letters: DeadLetter[] = [];
  /** Ids of dead letters that were stored as events. */
  readonly resumed = new Set<number>();
  /** Id of the last dead letter that a dispatcher has read and dealt with. */
  lettersReadTo = 0;
  /** Called at the start of every call; may throw. */
  before: (call: 'fanOut' | 'lease' | 'report', request: object) => void = () => undefined;
  readonly #deliveries: Delivery[] = [];
  readonly #waiting = new Set<() => void>();
  readonly #server: GrpcServer;
  address = '';

  constructor() {
    this.#server = createGrpcServer({ log: silentLog, metrics: createMetrics('test'), callers: { accepted: testConfig.callerCredentials } });
    this.#server.implement(DeliveryServiceService, {
      fanOut: async (request) => {
        this.before('fanOut', request);
        for (const event of request.events) this.add(event);
        for (const id of request.dead_letter_ids) this.resumed.add(id);
        this.#changed();
        return { pending: request.events.length * this.endpoints.length, skipped: 0, deliveries: [] };
      },
      setAside: async ({ letters }) => {
        for (const letter of letters) {
          if (!this.letters.some(({ event_id }) => event_id === letter.event_id)) this.letters.push({ ...letter, id: this.letters.length + 1 });
        }
        this.#changed();
        return {};
      },
      readDeadLetters: async ({ after }) => {
        this.lettersReadTo = Math.max(this.lettersReadTo, after);
        this.#changed();
        return { letters: this.letters.filter(({ id }) => id > after && !this.resumed.has(id)) };
      },
      lease: async (request) => {
        this.before('lease', request);
        this.leases.push(request);
        this.#changed();
        return { deliveries: this.#lease(request), next_due_at: null };
      },
      renew: async (request) => {
        this.renewals.push(request);
        this.#changed();
        return {};
      },
      watchDue: async function* (_, { signal }) {
        yield { restarted_endpoint_ids: [] };
        if (!signal.aborted) await once(signal, 'abort');
      },
      report: async (request) => this.#store(request),
      reportAll: async ({ attempts }) => ({ answers: attempts.map((attempt) => this.#store(attempt)) }),
    });
  }

  async start(): Promise<void> {
    this.address = `127.0.0.1:${await this.#server.listen(0, '127.0.0.1')}`;
  }

  async stop(): Promise<void> {
    await this.#server.drain(100);
  }

  endpoint(url: string, headers: HttpHeader[] = []): Endpoint {
    const endpoint = { id: randomUUID(), url, secret: randomBytes(32), headers };
    this.endpoints.push(endpoint);
    return endpoint;
  }

  /** Adds a due delivery of the event for each endpoint, or for one. */
  add(event: PublicEvent, endpoints: readonly Endpoint[] = this.endpoints): void {
    if (this.fanned.some(({ id }) => id === event.id)) return;
    this.fanned.push(event);
    for (const { id, url, secret, headers = [] } of endpoints) {
      const leased: LeasedDelivery = {
        delivery_id: randomUUID(),
        lease_token: randomUUID(),
        lease_expires_at: (Date.now() + 60_000) * 1000,
        company_id: event.company_id,
        endpoint_id: id,
        url,
        secrets: [secret],
        event_id: event.id,
        event_type: event.type,
        body: event.body,
        attempt: 1,
        probe: false,
        headers,
      };
      this.#deliveries.push({ leased, state: 'due' });
    }
  }

  reportsOf(endpoint: Endpoint): ReportRequest[] {
    const ids = new Set(this.#deliveries.filter(({ leased }) => leased.endpoint_id === endpoint.id).map(({ leased }) => leased.delivery_id));
    return this.reports.filter((report) => ids.has(report.delivery_id));
  }

  /** Resolves when the condition holds. Checks it after every call. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (!condition()) return;
        this.#waiting.delete(check);
        resolve();
      };
      this.#waiting.add(check);
      check();
    });
  }

  #store(attempt: ReportRequest): ReportResponse {
    this.before('report', attempt);
    const delivery = this.#deliveries.find(({ leased }) => leased.delivery_id === attempt.delivery_id);
    if (delivery !== undefined) delivery.state = 'reported';
    this.reports.push(attempt);
    this.#changed();
    const more_due = this.#deliveries.some(({ leased, state }) => state === 'due' && leased.endpoint_id === delivery?.leased.endpoint_id);
    return { status: 'DELIVERY_STATUS_SUCCEEDED', next_attempt_at: null, endpoint_disabled: false, lease_lost: false, more_due, unknown: false };
  }

  #lease(request: LeaseRequest): LeasedDelivery[] {
    const excluded = new Set(request.excluded_endpoint_ids);
    const busy = new Map<string, number>();
    for (const { leased, state } of this.#deliveries) {
      if (state === 'leased') busy.set(leased.endpoint_id, (busy.get(leased.endpoint_id) ?? 0) + 1);
    }
    const chosen: LeasedDelivery[] = [];
    const rooms = new Map(request.busy_companies.map(({ company_id: id, max_deliveries: room }) => [id, room]));
    for (const delivery of this.#deliveries) {
      const { endpoint_id: id } = delivery.leased;
      const inFlight = busy.get(id) ?? 0;
      if (delivery.state !== 'due' || excluded.has(id) || inFlight >= request.max_in_flight_per_endpoint) continue;
      if (chosen.length === request.max_deliveries) break;
      const room = rooms.get(delivery.leased.company_id) ?? request.max_of_company ?? Infinity;
      if (room <= 0) continue;
      rooms.set(delivery.leased.company_id, room - 1);
      busy.set(id, inFlight + 1);
      delivery.state = 'leased';
      chosen.push(delivery.leased);
    }
    return chosen;
  }

  #changed(): void {
    for (const check of [...this.#waiting]) check();
  }
}
