import type { ComponentChildren, TargetedKeyboardEvent, TargetedPointerEvent } from 'preact';
import { useState } from 'preact/hooks';
import type { Bucket, HealthSeries } from '../api/types.ts';
import { attempts } from './figures.ts';
import { Table, type Column } from './table.tsx';
import { tick } from './time.tsx';

const DAY_SECONDS = 86_400;
const TICKS = 3;
/** Number of buckets that a key moves by. */
const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -10,
  PageUp: 10,
  Home: -Infinity,
  End: Infinity,
};

export interface Curve {
  /** The name in style sheets. */
  readonly name: string;
  readonly label: string;
  readonly total: string;
}

interface Given {
  title: string;
  series: HealthSeries;
  curves: readonly Curve[];
  top: string;
  describe: (bucket: Bucket) => string;
  columns: readonly Column<Bucket>[];
  /** The drawing: a bucket is 10 wide, the whole is 100 high. */
  children: ComponentChildren;
}

/** A chart over time. Screen readers read its totals, step through it with the arrow keys as through a slider, or read the table. */
export function Chart({ title, series, curves, top, describe, columns, children }: Given) {
  const { buckets, bucketSeconds } = series;
  const [at, setAt] = useState<number | undefined>(undefined);
  const last = buckets.length - 1;
  const chosen = Math.min(at ?? last, last);
  const days = bucketSeconds * buckets.length > DAY_SECONDS;
  const name = (bucket: Bucket): string => `${days ? `${tick(new Date(bucket.startsAt), true)}, ` : ''}${tick(new Date(bucket.startsAt), false)}`;
  const text = (index: number): string => `${name(buckets[index]!)}: ${describe(buckets[index]!)}`;

  function step(event: TargetedKeyboardEvent<HTMLElement>): void {
    const by = STEPS[event.key];
    if (by === undefined) return;
    event.preventDefault();
    setAt(Math.max(0, Math.min(last, chosen + by)));
  }

  function point({ clientX, currentTarget }: TargetedPointerEvent<HTMLElement>): void {
    const { left, width } = currentTarget.getBoundingClientRect();
    setAt(Math.max(0, Math.min(last, Math.floor(((clientX - left) / width) * buckets.length))));
  }

  const filled = buckets.filter((bucket) => attempts(bucket) > 0);
  return (
    <figure class="chart">
      <figcaption>
        <h3>{title}</h3>
        <ul class="legend">
          {curves.map((curve) => (
            <li key={curve.name}>
              <span class={`swatch ${curve.name}`} aria-hidden="true" /> {curve.label} <strong>{curve.total}</strong>
            </li>
          ))}
        </ul>
      </figcaption>
      <div
        class="plot"
        role="slider"
        tabIndex={0}
        aria-label={title}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={chosen}
        aria-valuetext={text(chosen)}
        onKeyDown={step}
        onPointerMove={point}
        onPointerLeave={() => setAt(undefined)}
        onBlur={() => setAt(undefined)}
      >
        <span class="top" aria-hidden="true">
          {top}
        </span>
        <svg viewBox={`0 0 ${buckets.length * 10} 100`} preserveAspectRatio="none" aria-hidden="true">
          {at !== undefined && <rect class="cursor" x={chosen * 10} y="0" width="10" height="100" />}
          <path class="grid" d={`M0 0.5H${buckets.length * 10}M0 50H${buckets.length * 10}M0 99.5H${buckets.length * 10}`} />
          {children}
        </svg>
      </div>
      <div class="ticks" aria-hidden="true">
        {Array.from({ length: TICKS }, (_, index) => (
          <span key={index}>{tick(new Date(buckets[Math.round((index * last) / TICKS)]!.startsAt), days)}</span>
        ))}
        <span>now</span>
      </div>
      <p class="readout soft" aria-hidden="true">
        {at === undefined ? ' ' : text(chosen)}
      </p>
      {filled.length > 0 && (
        <details class="as-table">
          <summary>
            As a table<span class="unseen">: {title}</span>
          </summary>
          <Table caption={title} rows={filled.toReversed()} rowKey={({ startsAt }) => startsAt} columns={[{ title: 'From', cell: name }, ...columns]} />
        </details>
      )}
    </figure>
  );
}
