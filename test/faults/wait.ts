import type { Polling } from '@truckroll/testing/until';

/** For `until` while servers are killed: a limit that only a hang exceeds. */
export const HANG: Polling = { atMostMs: 120_000, everyMs: 100 };
