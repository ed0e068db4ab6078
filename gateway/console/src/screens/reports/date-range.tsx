import type { TargetedEvent, TargetedKeyboardEvent } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Popover } from '../../parts/popover.tsx';
import { today, zone } from '../../parts/time.tsx';
import { addDays, addMonths, bucketName, dayName, faultOf, firstOfMonth, isDay, weekdayOf } from './calendar.ts';

interface Preset {
  readonly title: string;
  readonly chosen: boolean;
  readonly choose: () => void;
}

interface Given {
  label: string;
  /** What is chosen, in words. */
  text: string;
  /** Empty if the range has no first day; UNREADABLE, or a day that makes no sense, is marked. */
  from: string;
  /** The last day. */
  to: string;
  /** Whether the range must have both days. */
  required?: boolean;
  presets: readonly Preset[];
  onGiven: (from: string, to: string) => void;
}

/** What is given in place of a day that the input cannot read. */
const UNREADABLE = '?';
/** A day that the calendar can show. */
const shown = (day: string): string => (faultOf(day) === undefined ? day : '');

/** A range of days: a named one, two days of a calendar of two months, or two dates that are typed. */
export function DateRange({ label, text, from, to, required = false, presets, onGiven }: Given) {
  const given = { required, max: '9998-12-31' };
  return (
    <div class="range">
      <span aria-hidden="true">{label}</span>
      <Popover label={label} text={text} wrong={faultOf(from) ?? faultOf(to, from)}>
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
              from={shown(from)}
              to={shown(to)}
              onChosen={(first, last) => {
                onGiven(first, last);
                close();
              }}
            />
            <div class="two">
              <Day {...given} name="from" label="From" day={from} onGiven={(day) => onGiven(day, to)} />
              <Day {...given} name="to" label="To" day={to} since={shown(from)} onGiven={(day) => onGiven(from, day)} />
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

/** The month of the last day, or else of the first or of today, and the one before it. The days are one stop of the Tab key, with arrow keys between them. */
function TwoMonths({ from, to, onChosen }: { from: string; to: string; onChosen: (from: string, to: string) => void }) {
  const [at, setAt] = useState(to || from || today());
  const [left, setLeft] = useState(addMonths(firstOfMonth(at), -1));
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
                aria-pressed={start + end !== '' && day >= start && day <= (end || day)}
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
  /** The first day, if this is the last one. */
  since?: string;
  required: boolean;
  max: string;
  onGiven: (day: string) => void;
}

function Day({ name, label, day, since, onGiven, ...limits }: DayGiven) {
  const wrong = faultOf(day, since);
  const text = isDay(day) ? day : '';
  // Browsers report every key press, `0002-01-01` while 2026 is typed, but no change between an empty input and half a date.
  function read({ currentTarget: { value, validity } }: TargetedEvent<HTMLInputElement>): void {
    if (value === text && validity.badInput === (day === UNREADABLE)) return;
    onGiven(validity.badInput || (value === '' && limits.required) ? UNREADABLE : value);
  }
  return (
    <div>
      <label>
        {label}
        <span class="unseen">, a day in {zone()}</span>
        <input
          {...limits}
          name={name}
          type="date"
          value={text}
          aria-invalid={wrong !== undefined || undefined}
          aria-describedby={wrong && `${name}-wrong`}
          onChange={read}
          onKeyUp={read}
        />
      </label>
      {wrong !== undefined && (
        <p class="error" id={`${name}-wrong`}>
          {wrong}
        </p>
      )}
    </div>
  );
}
