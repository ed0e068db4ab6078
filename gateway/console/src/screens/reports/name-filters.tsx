import type { TargetedKeyboardEvent } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Problem } from '../../api/problem.ts';
import { METHODS } from '../../parts/words.ts';
import { readAccountNames, readNames, searchAccounts, useNames, type Found, type Named } from '../../state/names.ts';
import { MOST_SEARCHED, searchable } from '../../state/search.ts';
import { route } from '../../state/route.ts';
import { useStore } from '../../state/store.ts';
import type { Filter } from './definitions.ts';

/** The names of a filter's values; of a list that is short, all of them. */
function read({ names }: Filter, values: readonly string[]): Promise<readonly Named[]> {
  return names === 'accounts' ? readAccountNames(values) : names === 'methods' ? Promise.resolve(METHODS) : readNames(names);
}

/** The filters in words, as a spreadsheet names them: "Customer", "Hill, Moreno". */
export async function filtersInWords(
  filters: readonly Filter[],
  chosen: Readonly<Record<string, readonly string[]>>,
): Promise<[title: string, names: string][]> {
  const given = filters.filter(({ name }) => (chosen[name] ?? []).length > 0);
  return await Promise.all(
    given.map(async (filter): Promise<[string, string]> => {
      const values = chosen[filter.name]!;
      const names = await read(filter, values);
      return [filter.title, values.map((value) => names.find(({ id }) => id === value)?.name ?? value).join(', ')];
    }),
  );
}

interface Given {
  filter: Filter;
  values: readonly string[];
  onChange: (values: readonly string[]) => void;
}

/** Chooses records by name; several of them match any. The address keeps their ids. */
export function NameFilter(given: Given) {
  return given.filter.names === 'accounts' ? <AccountFilter {...given} /> : <ListFilter {...given} />;
}

function ListFilter({ filter, values, onChange }: Given) {
  const { title, name } = filter;
  const choices = useNames(filter.names, () => read(filter, []));
  return (
    <div class="name-filter">
      <label>
        {title}
        <select name={name} value="" onChange={({ currentTarget }) => currentTarget.value !== '' && onChange([...values, currentTarget.value])}>
          <option value="">{values.length === 0 ? 'All' : 'Add another'}</option>
          {choices
            ?.filter(({ id }) => !values.includes(id))
            .map(({ id, name: text }) => (
              <option key={id} value={id}>
                {text}
              </option>
            ))}
        </select>
      </label>
      <Chosen values={values} names={choices} onChange={onChange} />
    </div>
  );
}

/** The chosen ones, each with a button that removes it. */
function Chosen({ values, names, onChange }: { values: readonly string[]; names: readonly Named[] | undefined; onChange: Given['onChange'] }) {
  if (values.length === 0) return null;
  return (
    <ul class="chosen">
      {values.map((value) => {
        const name = names?.find(({ id }) => id === value)?.name ?? (names === undefined ? '…' : value);
        return (
          <li key={value}>
            <button type="button" class="small" aria-label={`Remove ${name}`} onClick={() => onChange(values.filter((each) => each !== value))}>
              {name} <span aria-hidden="true">×</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}

/** Time without typing, in ms, before a search begins. */
const PAUSE_MS = 200;

function AccountFilter({ filter, values, onChange }: Given) {
  const { title, name } = filter;
  const id = useId();
  const names = useNames(`accounts ${values.join()}`, () => read(filter, values));
  const [text, setText] = useState('');
  const [found, setFound] = useState<readonly Found[] | undefined>(undefined);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const box = useRef<HTMLDivElement>(null);
  const { query } = useStore(route);
  // Another view begins with an empty box.
  useEffect(() => setText(''), [query.toString()]);
  const wanted = searchable(text);
  useEffect(() => {
    setFound(undefined);
    setProblem(undefined);
    if (wanted === undefined) return;
    const ended = new AbortController();
    const search = (): void =>
      void searchAccounts(wanted, ended.signal).then(setFound, (error: unknown) => {
        if (!ended.signal.aborted) setProblem(Problem.of(error).message);
      });
    const timer = setTimeout(search, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
  }, [wanted]);
  const choices = found?.filter((each) => !values.includes(each.id)) ?? [];
  const choose = (chosen: Found): void => {
    setText('');
    onChange([...values, chosen.id]);
    box.current?.querySelector('input')?.focus();
  };
  /** Arrow keys go from the box to the choices and between them. */
  const step = (event: TargetedKeyboardEvent<HTMLDivElement>): void => {
    const stops = [...box.current!.querySelectorAll<HTMLElement>('input, .found button')];
    const at = stops.indexOf(document.activeElement as HTMLElement);
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by === 0 || at < 0 || choices.length === 0) return;
    event.preventDefault();
    stops[Math.max(0, Math.min(stops.length - 1, at + by))]!.focus();
  };
  return (
    <div class="name-filter" ref={box} onKeyDown={step}>
      <label>
        {title}
        <input
          name={name}
          type="search"
          value={text}
          placeholder="Name or telephone"
          autocomplete="off"
          spellcheck={false}
          maxLength={MOST_SEARCHED}
          aria-describedby={id}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && choices[0] !== undefined) choose(choices[0]);
          }}
        />
      </label>
      <p class="soft" role="status" id={id}>
        {wanted === undefined ? '' : (problem ?? summary(found))}
      </p>
      {choices.length > 0 && (
        <ul class="found">
          {choices.map((each) => (
            <li key={each.id}>
              <button type="button" class="small" onClick={() => choose(each)}>
                <span>
                  {each.name} <span class="soft">{each.beside}</span>
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
      <Chosen values={values} names={names} onChange={onChange} />
    </div>
  );
}

function summary(found: readonly Found[] | undefined): string {
  if (found === undefined) return 'Searching…';
  return found.length === 0 ? 'No customer is found by this.' : `${found.length} found`;
}
