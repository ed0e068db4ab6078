import { Popover } from './popover.tsx';

interface Given {
  all: readonly { readonly key: string; readonly title: string }[];
  /** Keys of those that are shown. */
  shown: readonly string[];
  /** undefined shows the usual ones. */
  show: (keys: readonly string[] | undefined) => void;
}

/** Chooses columns of a wide table. At least one stays. */
export function Columns({ all, shown, show }: Given) {
  return (
    <Popover label="Columns" text={`${shown.length} of ${all.length} columns`}>
      {() => (
        <>
          {all.map(({ key, title }) => (
            <label key={key} class="choice">
              <input
                type="checkbox"
                name="column"
                checked={shown.includes(key)}
                disabled={shown.length === 1 && shown.includes(key)}
                onChange={() => show(shown.includes(key) ? shown.filter((each) => each !== key) : [...shown, key])}
              />
              {title}
            </label>
          ))}
          <button type="button" class="small" onClick={() => show(undefined)}>
            The usual columns
          </button>
        </>
      )}
    </Popover>
  );
}
