// The rate limit of an endpoint (decisions §15), in SQL. Only Lease leases deliveries of a limited endpoint, one call at a time, and
// notes in webhook_rates until when they use up the rate.

/** Longest time of which an endpoint that received nothing may catch up, so that a limit of 100 a second sends at most 10 at once. */
const CATCH_UP = `interval '100 milliseconds'`;
/** Time that one delivery uses up. Alias e: the endpoint. */
export const EACH = `interval '1 second' / e.max_per_second`;

/** Until when the rate is used up: now at the latest. Alias e: the endpoint. */
export const spentUntil = (now: string): string =>
  `greatest(${now} - greatest(${CATCH_UP}, ${EACH}), (select r.spent_until from webhook_rates r where r.endpoint_id = e.id))`;

/** Number of deliveries that may be sent at once; null without a limit. The addend makes up for the rounding of intervals. */
export const allowedNow = (now: string): string =>
  `case when e.max_per_second is not null
    then greatest(0, floor(extract(epoch from ${now} - ${spentUntil(now)}) * e.max_per_second + 0.001))::int end`;
