// What a recovery will send, as far as the API can say before.
import { firstDeliveries, previewFilter } from '../api/integrations.ts';
import type { Endpoint, Include } from '../api/types.ts';

export interface Range {
  readonly since: string;
  readonly until: string;
}

/** A number of records, or a lower bound if there are more than one request shows. */
export interface Counted {
  readonly count: number;
  readonly more: boolean;
}

export type Plan = Range &
  (
    | { readonly include: Extract<Include, 'MISSED'>; readonly skipped: Counted; readonly failed: Counted }
    | { readonly include: 'ALL'; readonly events: Counted }
  );

export async function planOf(endpoint: Endpoint, include: Include, range: Range): Promise<Plan> {
  if (include === 'ALL') return { ...range, include, events: await countEvents(endpoint, range) };
  const [skipped, failed] = await Promise.all([countDeliveries(endpoint.id, 'skipped', range), countDeliveries(endpoint.id, 'failed', range)]);
  return { ...range, include, skipped, failed };
}

async function countDeliveries(id: string, progress: string, { since, until }: Range): Promise<Counted> {
  const { data, nextCursor } = await firstDeliveries(id, { progress, createdFrom: since, createdBefore: until });
  return { count: data.filter(({ test }) => !test).length, more: nextCursor !== null };
}

/** Events of the range that match the endpoint's current settings, among the company's newest events. */
async function countEvents({ eventTypes, filter, createdAt }: Endpoint, { since, until }: Range): Promise<Counted> {
  const { events, oldestAt, examined } = await previewFilter({ eventTypes, filter });
  const from = Math.max(Date.parse(since), Date.parse(createdAt));
  const count = events.filter(({ createdAt: at }) => Date.parse(at) >= from && Date.parse(at) < Date.parse(until)).length;
  return { count, more: examined >= MOST_EXAMINED && oldestAt !== null && Date.parse(oldestAt) > from };
}

/** The preview examines no more events than this. */
const MOST_EXAMINED = 1000;
