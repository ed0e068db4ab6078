import type { Bucket } from '../api/types.ts';
import { attempts, counts } from './figures.ts';
import { stackedBars } from './plot.ts';

/** The last hours as bars, small enough for a table row; its text gives the totals. */
export function Sparkline({ buckets }: { buckets: readonly Bucket[] }) {
  const sum = buckets.reduce((all, { delivered, failed }) => ({ delivered: all.delivered + delivered, failed: all.failed + failed }), {
    delivered: 0,
    failed: 0,
  });
  if (attempts(sum) === 0) return <span class="soft">Nothing sent</span>;
  const { delivered, failed } = stackedBars(buckets, Math.max(...buckets.map(attempts)));
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${buckets.length * 10} 100`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`Last ${buckets.length} hours: ${counts(sum)}`}
    >
      <path class="delivered" d={delivered} />
      <path class="failed" d={failed} />
    </svg>
  );
}
