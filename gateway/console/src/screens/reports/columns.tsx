import { Popover } from '../../parts/popover.tsx';
import { goInstead } from '../../state/route.ts';
import { addressWith, type View } from './view.ts';

/** Chooses the columns of tables and spreadsheets. The address has them, and so has a saved view. At least one stays. */
export function Columns({ view: { report, columns }, query }: { view: View; query: URLSearchParams }) {
  const show = (column: readonly string[] | undefined): void => goInstead(addressWith(report, query, { column }));
  const shown = columns.map(({ key }) => key);
  return (
    <Popover label="Columns" text={`${columns.length} of ${report.measures.length} columns`}>
      {() => (
        <>
          {report.measures.map(({ key, title }) => (
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
