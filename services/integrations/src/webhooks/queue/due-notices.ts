// DeliveryService.WatchDue: notifies dispatchers of deliveries that users request at any replica of this service.
import type { WatchDueRequest, WatchDueResponse } from '@truckroll/contract/gen/integrations/v1/deliveries';
import type { CallContext } from '@truckroll/grpc';
import type { Database, DatabaseSession, Transaction } from '@truckroll/postgres';
import { logOutage, type BackgroundPart } from '@truckroll/process';
import type { Logger } from '@truckroll/telemetry';
import { checked } from '../../requests.ts';
import { schema } from '../../schema.ts';

const CHANNEL = 'webhooks_due';
const RECONNECT_MS = 500;

/**
 * Notifies dispatchers, after the commit, of due deliveries that no other response reveals, and of an endpoint whose circuit they close.
 * If it is lost, they poll within 2 s, and the circuit ends within a minute.
 */
export function notifyDue(tx: Transaction, restartedEndpointId = ''): void {
  tx.notify(`${schema.schema}_${CHANNEL}`, [restartedEndpointId]);
}

interface Notices {
  readonly notices: DueNotices;
  readonly stopping: AbortSignal;
}

/** Ends when the dispatcher cancels the call or this service stops. */
export async function* watchDue({ notices, stopping }: Notices, request: WatchDueRequest, call: CallContext): AsyncGenerator<WatchDueResponse> {
  checked('WatchDueRequest', request);
  yield* notices.watch(AbortSignal.any([call.signal, stopping]));
}

export interface DueNoticesOptions {
  readonly database: Database;
  readonly schema: string;
  readonly log: Logger;
}

/** Receives notices from all replicas and passes them to dispatchers. While disconnected, wakes dispatchers at every attempt to reconnect. */
export class DueNotices implements BackgroundPart {
  readonly name = 'webhook notices';
  readonly #database: Database;
  readonly #schema: string;
  readonly #channels = new Map<string, (payload: string) => void>();
  readonly #log: Logger;
  readonly #rings = new Set<(restartedEndpointId: string) => void>();
  #session: DatabaseSession | undefined;
  #connected = false;
  #stopped = false;
  #failures = 0;

  constructor({ database, schema, log }: DueNoticesOptions) {
    this.#database = database;
    this.#schema = schema;
    this.#log = log;
  }

  /** Whether the connection that receives notices is up, as far as is known. */
  get connected(): boolean {
    return this.#connected;
  }

  /**
   * Never rejects: retries in the background. `others` are further channels (without the schema) to listen to on the same connection; each
   * function is called at every notice, and when one may have been missed.
   */
  async start(others: Readonly<Record<string, () => void>> = {}): Promise<void> {
    const channels = { ...others, [CHANNEL]: (restartedEndpointId: string) => this.#ring(restartedEndpointId) };
    for (const [channel, action] of Object.entries(channels)) this.#channels.set(`${this.#schema}_${channel}`, action);
    await this.#connect();
  }

  async #connect(): Promise<void> {
    try {
      const session = await this.#database.session();
      this.#session = session;
      session.onNotification((payload, channel) => this.#channels.get(channel)?.(payload));
      for (const channel of this.#channels.keys()) await session.query({ text: `listen "${channel}"` });
      this.#failures = 0;
      this.#connected = true;
      // Notices sent while disconnected were missed.
      for (const action of this.#channels.values()) action('');
      void session.ended.then(() => this.#lost());
    } catch (error) {
      this.#failures += 1;
      logOutage(this.#log, 'cannot receive notices of due webhooks; dispatchers poll for them', this.#failures, error);
      await this.#session?.close();
      this.#lost();
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#session?.close();
  }

  /** Yields at once, and then whenever there were notices since the last time. Ends when aborted. */
  async *watch(signal: AbortSignal): AsyncGenerator<WatchDueResponse> {
    let rung = true;
    const restarted = new Set<string>();
    let noticed = Promise.withResolvers<void>();
    const ring = (restartedEndpointId: string) => {
      if (restartedEndpointId !== '') restarted.add(restartedEndpointId);
      rung = true;
      noticed.resolve();
    };
    const end = () => ring('');
    this.#rings.add(ring);
    signal.addEventListener('abort', end, { once: true });
    try {
      for (;;) {
        if (!rung) {
          noticed = Promise.withResolvers();
          await noticed.promise;
        }
        if (signal.aborted) return;
        rung = false;
        const restarted_endpoint_ids = [...restarted];
        restarted.clear();
        yield { restarted_endpoint_ids };
      }
    } finally {
      this.#rings.delete(ring);
      signal.removeEventListener('abort', end);
    }
  }

  #ring(restartedEndpointId = ''): void {
    for (const ring of this.#rings) ring(restartedEndpointId);
  }

  #lost(): void {
    this.#session = undefined;
    this.#connected = false;
    this.#ring();
    if (!this.#stopped) setTimeout(() => void (this.#stopped || this.#connect()), RECONNECT_MS).unref();
  }
}
