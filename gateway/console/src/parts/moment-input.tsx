import { instantOf, localInput, zone } from './time.tsx';

interface Given {
  name: string;
  label: string;
  /** An instant. */
  at: string | undefined;
  onGiven: (at: string | undefined) => void;
}

/** A filter by an instant, given in the company's time zone. */
export function MomentInput({ name, label, at, onGiven }: Given) {
  const shown = at === undefined || Number.isNaN(Date.parse(at)) ? '' : localInput(new Date(at));
  return (
    <label>
      {label}
      <span class="unseen">, in {zone()}</span>
      <input
        name={name}
        type="datetime-local"
        value={shown}
        onChange={({ currentTarget: { value } }) => onGiven(value === '' ? undefined : instantOf(value))}
      />
    </label>
  );
}
