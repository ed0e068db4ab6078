import type { TargetedEvent } from 'preact';
import { useState } from 'preact/hooks';
import { MOMENT, instantOf, localInput, zone } from './time.tsx';

interface Given {
  name: string;
  label: string;
  /** An instant. */
  at: string | undefined;
  /** Where the range begins that this instant ends. */
  since?: string | undefined;
  onGiven: (at: string | undefined) => void;
}

export const REVERSED = 'The range ends here before it begins.';

/** Whether a range of instants ends before it begins, or is empty. Nothing is asked for by one. */
export const isReversed = (from: string | undefined, before: string | undefined): boolean => Date.parse(before ?? '') <= Date.parse(from ?? '');

/** A filter by an instant, given in the company's time zone. What is typed in part stays, is marked, and changes nothing yet. */
export function MomentInput({ name, label, at, since, onGiven }: Given) {
  const [part, setPart] = useState<string | undefined>(undefined);
  const wrong = part !== undefined ? 'Give a whole date and time. The list stays as it is until then.' : isReversed(since, at) && REVERSED;
  const shown = at === undefined || Number.isNaN(Date.parse(at)) ? '' : localInput(new Date(at));
  function read({ currentTarget: { value, validity } }: TargetedEvent<HTMLInputElement>): void {
    setPart(validity.valid ? undefined : value);
    if (validity.valid && value !== shown) onGiven(instantOf(value) || undefined);
  }
  return (
    <div>
      <label>
        {label}
        <span class="unseen">, in {zone()}</span>
        <input
          {...MOMENT}
          name={name}
          value={part ?? shown}
          aria-invalid={wrong !== false || undefined}
          aria-describedby={wrong ? `${name}-wrong` : undefined}
          onChange={read}
          // Browsers report no change between an empty input and one that is typed in part.
          onKeyUp={read}
        />
      </label>
      {wrong && (
        <p class="error" id={`${name}-wrong`} role="alert">
          {wrong}
        </p>
      )}
    </div>
  );
}
