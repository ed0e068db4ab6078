import { Fragment } from 'preact';
import type { EventFilter } from '../api/types.ts';
import { Instant } from '../parts/time.tsx';
import { needsNoValue, pathsOf, wordsFor, type Kind } from './paths.ts';
import { rowsOf } from './rows.ts';

/** A filter in words: "status is one of BOOKED, SCHEDULED". */
export function FilterWords({ filter, types }: { filter: EventFilter; types: readonly string[] }) {
  const paths = pathsOf(types);
  return (
    <ul class="conditions">
      {rowsOf(filter, paths).map(({ key, path, operator, stored }) => (
        <li key={key}>
          <code>{path}</code> {wordsFor(operator, paths.get(path))}
          {!needsNoValue(operator) &&
            [stored].flat().map((value, index) => (
              <Fragment key={index}>
                {index === 0 ? ' ' : ', '}
                <Value value={value} kind={paths.get(path)} />
              </Fragment>
            ))}
        </li>
      ))}
    </ul>
  );
}

function Value({ value, kind }: { value: unknown; kind: Kind | undefined }) {
  if (kind === 'time' && !Number.isNaN(Date.parse(String(value)))) return <Instant at={String(value)} />;
  return <code>{kind === 'text' ? JSON.stringify(value) : String(value)}</code>;
}
