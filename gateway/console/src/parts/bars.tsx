import type { TargetedKeyboardEvent } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { bar, scaleAround } from './plot.ts';
import { Table, type Column } from './table.tsx';

export interface Bar {
  readonly key: string;
  readonly name: string;
  /** Its name on the axis. */
  readonly tick: string;
  /** null: there is no figure. */
  readonly value: number | null;
  readonly before?: number | null;
  /** The figures in words. */
  readonly text: string;
  readonly href: string;
}

interface Given<T> {
  title: string;
  legend: readonly { name: string; label: string; total: string }[];
  bars: readonly Bar[];
  format: (value: number) => string;
  /** Whether values are shares, of which an axis has fractions. */
  shares?: boolean;
  onOpen: () => void;
  table: { rows: readonly T[]; rowKey: (row: T) => string; columns: readonly Column<T>[] };
}

const TICKS = 4;
/** Most bars that each have a name on the axis. */
const MOST_TICKS = 6;
const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };

/** Bars that lead to what they are made of: one stop of the Tab key, arrow keys between bars, Enter opens one. Its table has the same links. */
export function Bars<T>({ title, legend, bars, format, shares = false, onOpen, table }: Given<T>) {
  const [focused, setFocused] = useState<number | undefined>(undefined);
  const [hovered, setHovered] = useState<number | undefined>(undefined);
  const drawing = useRef<SVGSVGElement>(null);
  const last = bars.length - 1;
  const stop = Math.min(focused ?? 0, last);
  const scale = scaleAround(
    bars.flatMap(({ value, before }) => [value ?? 0, before ?? 0]),
    { shares },
  );
  const middle = (index: number): string => `${((index + 0.5) / bars.length) * 100}%`;
  const width = bars.length * 10;
  const zero = scale.at(0);

  function step(event: TargetedKeyboardEvent<SVGSVGElement>): void {
    const by = STEPS[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(last, stop + by));
    drawing.current?.querySelectorAll('a')[next]?.focus();
  }

  const at = hovered ?? focused ?? -1;
  const shown = bars[at];
  const ticks = bars.length <= MOST_TICKS ? bars.length : TICKS;
  return (
    <figure class="chart report-chart">
      <figcaption>
        <h3>{title}</h3>
        <ul class="legend">
          {legend.map(({ name, label, total }) => (
            <li key={name}>
              <span class={`swatch ${name}`} aria-hidden="true" /> {label} <strong>{total}</strong>
            </li>
          ))}
        </ul>
      </figcaption>
      <div class="plot">
        {scale.lines.map((value) => (
          <span key={value} class="level" aria-hidden="true" style={{ top: `${scale.at(value)}%` }}>
            {format(value)}
          </span>
        ))}
        <svg
          ref={drawing}
          viewBox={`0 0 ${width} 100`}
          preserveAspectRatio="none"
          role="group"
          aria-label={title}
          onKeyDown={step}
          onPointerLeave={() => setHovered(undefined)}
        >
          <path class="grid" d={scale.lines.map((value) => `M0 ${scale.at(value)}H${width}`).join('')} />
          <path class="zero" d={`M0 ${zero}H${width}`} />
          {bars.map(({ key, value, before, text, href }, index) => (
            <a
              key={key}
              href={href}
              tabindex={index === stop ? 0 : -1}
              aria-label={text}
              onFocus={() => setFocused(index)}
              onPointerEnter={() => setHovered(index)}
              onBlur={() => setFocused(undefined)}
              onClick={onOpen}
            >
              <rect class="hit" x={index * 10} y="0" width="10" height="100" />
              <path class="now" d={bar(index, value ?? 0, scale)} />
              {before !== undefined && before !== null && <path class="before" d={`M${index * 10 + 0.5} ${scale.at(before)}h9`} />}
            </a>
          ))}
        </svg>
        {shown !== undefined && (
          <p class={at * 2 > last ? 'tip left' : 'tip'} aria-hidden="true" style={{ left: middle(at) }}>
            {shown.text}
          </p>
        )}
      </div>
      <div class="ticks below" aria-hidden="true">
        {Array.from({ length: ticks }, (_, tick) => Math.round((tick * last) / Math.max(1, ticks - 1))).map((index) => (
          <span key={index} style={{ left: middle(index) }}>
            {bars[index]!.tick}
          </span>
        ))}
      </div>
      <details class="as-table">
        <summary>
          As a table<span class="unseen">: {title}</span>
        </summary>
        <Table caption={title} {...table} />
      </details>
    </figure>
  );
}
