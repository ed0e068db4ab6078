import type { TargetedKeyboardEvent } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Account, Contact, Invoice, Job, Visit } from '../api/business.ts';
import { Problem } from '../api/problem.ts';
import { readList, type Listed } from '../api/reports.ts';
import { dollars } from '../parts/money.ts';
import { whenInWords } from '../parts/time.tsx';
import { place, titleCase } from '../parts/words.ts';
import { spoken } from './customers/reach.tsx';
import { go, places } from '../state/route.ts';
import { MOST_SEARCHED, searchable } from '../state/search.ts';

interface Result {
  readonly key: string;
  readonly name: string;
  /** By which it differs from others of its name. */
  readonly beside: string;
  readonly href: string;
}

interface Kind {
  readonly title: string;
  readonly path: string;
  /** Whether the list has the filter `number`. */
  readonly numbered: boolean;
  readonly query?: Readonly<Record<string, string>>;
  readonly result: (record: unknown) => Omit<Result, 'key'>;
}

/** The API's description says what a path returns. */
const of =
  <T,>(result: (record: T) => Omit<Result, 'key'>) =>
  (record: unknown) =>
    result(record as T);

const parts = (...texts: (string | null | undefined)[]): string => texts.filter((text) => text !== undefined && text !== null && text !== '').join(' · ');

const KINDS: readonly Kind[] = [
  {
    title: 'Customers',
    path: 'accounts',
    numbered: false,
    query: { archived: 'false' },
    result: of((account: Account) => ({
      name: account.name,
      beside: parts(place(account), account.phone && spoken(account.phone)),
      href: places.customer(account.id),
    })),
  },
  {
    title: 'Contacts',
    path: 'contacts',
    numbered: false,
    query: { archived: 'false' },
    result: of(({ name, account, primary_channel: channel }: Contact) => ({
      name,
      beside: parts(account.name === name ? null : account.name, channel && (channel.type === 'EMAIL' ? channel.value : spoken(channel.value))),
      href: places.customer(account.id),
    })),
  },
  {
    title: 'Jobs',
    path: 'jobs',
    numbered: true,
    result: of(({ id, number, summary, account }: Job) => ({ name: `Job ${number}`, beside: parts(account.name, summary), href: places.record('jobs', id) })),
  },
  {
    title: 'Visits',
    path: 'job-appointments',
    numbered: true,
    result: of(({ id, number, job, starts_at: at }: Visit) => ({
      name: `Visit ${number}`,
      beside: parts(job.account.name, whenInWords(new Date(at))),
      href: places.record('visits', id),
    })),
  },
  {
    title: 'Invoices',
    path: 'invoices',
    numbered: true,
    result: of(({ id, number, account, status, amounts }: Invoice) => ({
      name: `Invoice ${number}`,
      beside: parts(account.name, dollars(amounts.total_cents), titleCase(status)),
      href: places.record('invoices', id),
    })),
  },
];

const HOW = 'Words are found by how they begin, telephone numbers by their last seven digits or more.';

/** Results of each kind. */
const MOST = 5;
/** Time without typing, in ms, before a search begins. */
const PAUSE_MS = 120;

interface Found {
  readonly results: readonly Result[];
  /** Whether more are found than are shown. */
  readonly more?: boolean;
  readonly problem?: string;
}

/** The first records of a kind, those with exactly this number before others. */
async function search({ path, numbered, query, result }: Kind, text: string, signal: AbortSignal): Promise<Found> {
  type Identified = { readonly id: string };
  const read = (filter: Readonly<Record<string, string>>): Promise<Listed<Identified>> => readList(path, { ...query, ...filter, limit: MOST }, MOST, signal);
  try {
    const lists = await Promise.all([numbered && /\d/.test(text) ? read({ number: text }) : { records: [], more: false }, read({ search: text })]);
    const records = new Map(lists.flatMap((list) => list.records).map((record) => [record.id, record]));
    return {
      results: [...records.values()].slice(0, MOST).map((record) => ({ key: `${path} ${record.id}`, ...result(record) })),
      more: lists.some(({ more }) => more),
    };
  } catch (error) {
    return { results: [], problem: Problem.of(error).message };
  }
}

/** Finds customers, contacts, jobs, visits and invoices. The focus stays in the box; arrow keys choose among the results and Enter opens one. */
export function Finder({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [text, setText] = useState('');
  const [found, setFound] = useState<ReadonlyMap<Kind, Found>>(new Map());
  const [chosen, setChosen] = useState(0);
  const wanted = searchable(text);

  useLayoutEffect(() => {
    dialog.current!.showModal();
  }, []);
  useEffect(() => {
    setChosen(0);
    if (wanted === undefined) return setFound(new Map());
    const ended = new AbortController();
    const timer = setTimeout(() => {
      const fresh = new Map<Kind, Found>();
      for (const kind of KINDS) {
        void search(kind, wanted, ended.signal).then((results) => {
          if (ended.signal.aborted) return;
          fresh.set(kind, results);
          setFound(new Map(fresh));
        });
      }
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
  }, [wanted]);

  const groups = KINDS.map((kind) => ({ kind, ...(found.get(kind) ?? { results: [] }) })).filter(({ results }) => results.length > 0);
  const results = groups.flatMap((group) => group.results);
  const problems = KINDS.filter((kind) => found.get(kind)?.problem !== undefined);
  const at = Math.min(chosen, results.length - 1);
  const active = results[at];
  const idOf = (result: Result): string => `${id}-${results.indexOf(result)}`;

  useEffect(() => {
    if (active !== undefined) document.getElementById(idOf(active))?.scrollIntoView({ block: 'nearest' });
  }, [active?.key]);

  function open(result: Result): void {
    dialog.current!.close();
    go(result.href);
  }

  function press(event: TargetedKeyboardEvent<HTMLInputElement>): void {
    const last = results.length - 1;
    if (event.key === 'Enter' && active !== undefined) open(active);
    else if (event.key === 'ArrowDown') setChosen(at >= last ? 0 : at + 1);
    else if (event.key === 'ArrowUp') setChosen(at <= 0 ? last : at - 1);
    else return;
    event.preventDefault();
  }

  return (
    <dialog
      ref={dialog}
      class="finder"
      aria-label="Search"
      onClose={onClose}
      onClick={(event) => event.target === event.currentTarget && event.currentTarget.close()}
    >
      <input
        type="text"
        role="combobox"
        aria-label="Search customers, contacts, jobs, visits and invoices"
        aria-expanded={results.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={active && idOf(active)}
        placeholder="Name, telephone, e-mail, address or number"
        autocomplete="off"
        spellcheck={false}
        maxLength={MOST_SEARCHED}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={press}
      />
      <div id={`${id}-list`} role="listbox" aria-label="Results">
        {groups.map(({ kind, results: own }, group) => (
          <div key={kind.title} role="group" aria-labelledby={`${id}-group-${group}`}>
            <div class="group" role="presentation" id={`${id}-group-${group}`}>
              {kind.title}
            </div>
            {own.map((result) => (
              <div
                key={result.key}
                role="option"
                id={idOf(result)}
                aria-selected={result === active}
                onPointerMove={() => setChosen(results.indexOf(result))}
                onClick={() => open(result)}
              >
                <span class="name">{result.name}</span> <span class="soft">{result.beside}</span>
              </div>
            ))}
          </div>
        ))}
      </div>
      <p class="soft" role="status">
        {status(wanted, found, results.length)}
        {problems.length > 0 && ` ${problems.map(({ title }) => title).join(', ')} could not be searched: ${found.get(problems[0]!)!.problem}`}
      </p>
    </dialog>
  );
}

function status(wanted: string | undefined, found: ReadonlyMap<Kind, Found>, count: number): string {
  if (wanted === undefined) return `Type two letters or digits. ${HOW}`;
  if (found.size < KINDS.length) return 'Searching…';
  if (count === 0) return `Nothing is found by this. ${HOW}`;
  return `${[...found.values()].some(({ more }) => more) ? `The first ${MOST} of each kind` : `${count} found`}. Arrow keys choose, Enter opens.`;
}
