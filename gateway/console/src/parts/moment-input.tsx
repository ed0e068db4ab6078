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

/** A filter by an instant, given in the company's time zone. */
export function MomentInput({ name, label, at, since, onGiven }: Given) {
  const wrong = isReversed(since, at);
  const shown = at === undefined || Number.isNaN(Date.parse(at)) ? '' : localInput(new Date(at));
  return (
    <div>
      <label>
        {label}
        <span class="unseen">, in {zone()}</span>
        <input
          {...MOMENT}
          name={name}
          value={shown}
          aria-invalid={wrong || undefined}
          aria-describedby={wrong ? `${name}-wrong` : undefined}
          onChange={({ currentTarget: { value, validity } }) => {
            if (!validity.rangeUnderflow) onGiven(instantOf(value) || undefined);
          }}
        />
      </label>
      {wrong && (
        <p class="error" id={`${name}-wrong`} role="alert">
          {REVERSED}
        </p>
      )}
    </div>
  );
}
