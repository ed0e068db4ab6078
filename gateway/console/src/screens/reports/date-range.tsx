import type { TargetedKeyboardEvent } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Popover } from '../../parts/popover.tsx';
import { today, zone } from '../../parts/time.tsx';
import { addDays, addMonths, bucketName, dayName, firstOfMonth, isDay, weekdayOf } from './calendar.ts';

interface Preset {
  readonly title: string;
  readonly chosen: boolean;
  readonly choose: () => void;
}

interface Given {
  label: string;
  /** What is chosen, in words. */
  text: string;
  from: string;
  /** The last day. */
  to: string;
  presets: readonly Preset[];
  onGiven: (from: string, to: string) => void;
}

/** A range of days: a named one, two days of a calendar of two months, or two dates that are typed. */
export function DateRange({ label, text, from, to, presets, onGiven }: Given) {
  return (
    <div class="range">
      <span aria-hidden="true">{label}</span>
      <Popover label={label} text={text}>
        {(close) => (
          <>
            <div class="buttons">
              {presets.map(({ title, chosen, choose }) => (
                <button
                  key={title}
                  type="button"
                  class="small"
                  aria-pressed={chosen}
                  onClick={() => {
                    choose();
                    close();
                  }}
                >
                  {title}
                </button>
              ))}
            </div>
            <TwoMonths
              key={`${from} ${to}`}
              from={from}
              to={to}
              onChosen={(first, last) => {
                onGiven(first, last);
                close();
              }}
            />
            <div class="two">
              <Day name="from" label="From" day={from} onGiven={(day) => onGiven(day, to)} />
              <Day name="to" label="To" day={to} least={from} onGiven={(day) => onGiven(from, day)} />
            </div>
          </>
        )}
      </Popover>
    </div>
  );
}

const KEYS: Readonly<Record<string, (day: string) => string>> = {
  ArrowLeft: (day) => addDays(day, -1),
  ArrowRight: (day) => addDays(day, 1),
  ArrowUp: (day) => addDays(day, -7),
  ArrowDown: (day) => addDays(day, 7),
  PageUp: (day) => addMonths(day, -1),
  PageDown: (day) => addMonths(day, 1),
};

/** The month of the last day and the one before it. The days are one stop of the Tab key, with arrow keys between them. */
function TwoMonths({ from, to, onChosen }: { from: string; to: string; onChosen: (from: string, to: string) => void }) {
  const [at, setAt] = useState(to);
  const [left, setLeft] = useState(addMonths(firstOfMonth(to), -1));
  /** The first day that was chosen, until the second one is. */
  const [first, setFirst] = useState<string | undefined>(undefined);
  const box = useRef<HTMLDivElement>(null);

  function step(event: TargetedKeyboardEvent<HTMLDivElement>): void {
    const next = KEYS[event.key]?.(at);
    if (next === undefined) return;
    event.preventDefault();
    setAt(next);
    const month = firstOfMonth(next);
    if (month < left) setLeft(month);
    if (month > addMonths(left, 1)) setLeft(addMonths(month, -1));
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus());
  }
  function choose(day: string): void {
    setAt(day);
    if (first === undefined) setFirst(day);
    else if (day < first) onChosen(day, first);
    else onChosen(first, day);
  }
  const turn = (by: number, title: string, sign: string) => (
    <button
      type="button"
      class="small"
      aria-label={title}
      onClick={() => {
        setLeft(addMonths(left, by));
        setAt(addMonths(at, by));
      }}
    >
      {sign}
    </button>
  );
  const [start, end] = first === undefined ? [from, to] : [first, first];
  return (
    <>
      <div class="spread">
        {turn(-1, 'The month before', '‹')}
        <span class="soft" role="status">
          {first === undefined ? 'Choose the first day' : `${dayName(first)}: choose the last day`}
        </span>
        {turn(1, 'The next month', '›')}
      </div>
      <div class="months" ref={box} onKeyDown={step}>
        {[left, addMonths(left, 1)].map((month) => (
          <div key={month} class="month">
            <strong>{bucketName({ start: month, end: addMonths(month, 1) }, 'month')}</strong>
            {['M', 'T', 'W', 'T', 'F', 'S', 'S'].map((name, index) => (
              <span key={index} class="soft" aria-hidden="true">
                {name}
              </span>
            ))}
            {daysOf(month).map((day, index) => (
              <button
                key={day}
                type="button"
                class={day === start || day === end ? 'primary' : undefined}
                tabIndex={day === at ? 0 : -1}
                aria-label={dayName(day)}
                aria-pressed={day >= start && day <= end}
                aria-current={day === today() ? 'date' : undefined}
                style={index === 0 ? { gridColumnStart: weekdayOf(day) } : undefined}
                onClick={() => choose(day)}
              >
                {index + 1}
              </button>
            ))}
          </div>
        ))}
      </div>
    </>
  );
}

const daysOf = (month: string): string[] => Array.from({ length: Number(addDays(addMonths(month, 1), -1).slice(8)) }, (_, day) => addDays(month, day));

interface DayGiven {
  name: string;
  label: string;
  day: string;
  least?: string;
  onGiven: (day: string) => void;
}

function Day({ name, label, day, least, onGiven }: DayGiven) {
  return (
    <label>
      {label}
      <span class="unseen">, a day in {zone()}</span>
      <input
        name={name}
        type="date"
        value={day}
        min={least}
        required
        onChange={({ currentTarget: { value } }) => {
          // An input of a date reports every key press: `0002-01-01` while 2026 is typed.
          if (isDay(value) && value >= '1900-01-01') onGiven(value);
        }}
      />
    </label>
  );
}
