// An endpoint of one run of `listen`: it is paused, so that its deliveries wait and can be read.
import { hostname } from 'node:os';
import { TruckrollError, type Client } from '@truckroll/client';
import { EXIT, Failure } from '../terminal/failure.ts';

export interface WaitingDelivery {
  readonly id: string;
  readonly event_id: string;
  readonly test: boolean;
  /** The body as an endpoint would get it: JSON. */
  readonly body: string;
}

export interface Inbox {
  readonly id: string;
  readonly secret: string;
  readonly expiresAt: string;
  /** What came since the last time, oldest first. Rejects with Failure once the endpoint is gone. */
  read(): Promise<WaitingDelivery[]>;
  close(): Promise<void>;
}

/** No host can have this name (RFC 6761), and a paused endpoint is sent tests only. */
export const NOWHERE = 'https://listen.invalid/';
const LASTS_MS = 15 * 60_000;
const RENEW_EARLY_MS = 10 * 60_000;
/** Events may be stored this long after newer ones, and are read anyway. */
const OVERLAP_MS = 30_000;
const CLOSE_WITHIN_MS = 10_000;

const isGone = (error: unknown): boolean => error instanceof TruckrollError && error.status === 404;

/** Rejects as the client does: for a key, and if the company has as many endpoints as it may. */
export async function openInbox(client: Client, events: readonly string[] | undefined, signal: AbortSignal): Promise<Inbox> {
  const eventTypes = events ?? (await client.webhookEventTypes.list({ signal }).pages().next()).value?.data.map(({ type }: { type: string }) => type);
  const lasting = (): string => new Date(Date.now() + LASTS_MS).toISOString();
  const name = `truckroll listen on ${hostname()}`.slice(0, 100);
  const body = { name, url: NOWHERE, eventTypes, state: 'PAUSED', alertEmails: [], expiresAt: lasting() };
  const { data: endpoint } = await client.webhooks.create(body as never, { signal });
  const { id } = endpoint;
  let expiresAt = endpoint.expiresAt as string;
  let newest = Date.parse(endpoint.createdAt);
  /** When each delivery that may be read again happened. */
  const known = new Map<string, number>();

  const unlessGone = (error: unknown): never => {
    if (!isGone(error)) throw error;
    throw new Failure(
      `The endpoint of this program expired at ${expiresAt} or was removed, as after a suspension: start \`truckroll listen\` again. Events since then are not shown.`,
      EXIT.refused,
      error,
    );
  };

  const renew = async (): Promise<void> => {
    if (Date.parse(expiresAt) - Date.now() > RENEW_EARLY_MS) return;
    expiresAt = (await client.webhooks.update(id, { expiresAt: lasting() }, { signal })).data.expiresAt as string;
  };

  const read = async (): Promise<WaitingDelivery[]> => {
    await renew();
    const from = newest - OVERLAP_MS;
    const found: WaitingDelivery[] = [];
    for await (const delivery of client.webhooks.deliveries.list(id, { limit: 100, createdFrom: new Date(from).toISOString() }, { signal })) {
      if (known.has(delivery.id)) continue;
      const at = Date.parse(delivery.createdAt);
      known.set(delivery.id, at);
      newest = Math.max(newest, at);
      const whole = delivery.requestBodyTruncated ? (await client.webhooks.deliveries.get(id, delivery.id, { signal })).data : delivery;
      found.push({ id: delivery.id, event_id: delivery.eventId, test: delivery.test, body: whole.requestBody });
    }
    for (const [each, at] of known) if (at < newest - OVERLAP_MS) known.delete(each);
    return found.toReversed();
  };

  return {
    id,
    secret: endpoint.signingSecret,
    get expiresAt() {
      return expiresAt;
    },
    read: async () => await read().catch(unlessGone),
    /** Does not end with Ctrl-C, after which it runs, but after a time limit. */
    async close() {
      await client.webhooks.delete(id, { signal: AbortSignal.timeout(CLOSE_WITHIN_MS) }).catch((error: unknown) => {
        if (!isGone(error)) throw error;
      });
    },
  };
}
