import { listEventTypes, type DeliveryFilter } from '../api/integrations.ts';
import type { Problem } from '../api/problem.ts';
import { PROGRESS, TEST_EVENT } from '../api/types.ts';
import { progressName } from '../parts/badge.tsx';
import { messagesFor } from '../parts/field.tsx';
import { MomentInput } from '../parts/moment-input.tsx';
import { useResource } from '../state/resource.ts';
import { go, goInstead, places } from '../state/route.ts';

const HOUR_MS = 3_600_000;
const TIMES = { hour: ['Last hour', HOUR_MS], day: ['Last 24 hours', 24 * HOUR_MS], week: ['Last 7 days', 168 * HOUR_MS] } as const;
/** The value of `time` for a period with explicit bounds. */
const RANGE = 'range';

/** The filter and page in the address; empty texts count as absent. */
export interface Narrowing {
  readonly progress?: string | undefined;
  readonly eventType?: string | undefined;
  /** One of TIMES, or RANGE. */
  readonly time?: string | undefined;
  /** Instants. */
  readonly from?: string | undefined;
  readonly before?: string | undefined;
  readonly subject?: string | undefined;
  readonly cursor?: string | undefined;
}

const NAMES = ['progress', 'eventType', 'time', 'from', 'before', 'subject', 'cursor'] as const;

export function narrowingIn(query: URLSearchParams): Narrowing {
  return Object.fromEntries(NAMES.map((name) => [name, query.get(name) || undefined]));
}

export const addressOf = (narrowing: Narrowing): Record<string, string | undefined> => Object.fromEntries(NAMES.map((name) => [name, narrowing[name]]));

export const isNarrowed = ({ cursor: _, ...rest }: Narrowing): boolean => Object.values(rest).some((value) => value !== undefined);

/** The API's filter. A period up to now is counted back from this moment, unless the address fixes its start. */
export function resolved({ progress, eventType, time, from, before, subject, cursor }: Narrowing): DeliveryFilter {
  const known = TIMES[time as keyof typeof TIMES];
  const createdFrom = from ?? (known === undefined ? undefined : new Date(Date.now() - known[1]).toISOString());
  return { progress, eventType, createdFrom, createdBefore: before, subject, cursor };
}

interface Given {
  id: string;
  narrowing: Narrowing;
  problem: Problem | undefined;
}

const FIELDS = ['subject', 'createdFrom', 'createdBefore'];

export function DeliveryFilters({ id, narrowing, problem }: Given) {
  const types = useResource('event-types', listEventTypes);
  const { progress = '', eventType = '', time = '', from, before, subject = '' } = narrowing;
  // On pages after the first, the address fixes the start of a period up to now. A changed filter starts over.
  const to = (change: Narrowing): string =>
    places.endpoint(id, addressOf({ ...narrowing, ...(time === RANGE ? {} : { from: undefined }), ...change, cursor: undefined }));
  const narrow = (change: Narrowing): void => go(to(change));
  // Includes the type in the address even if the listing lacks it, so that the selected filter is visible.
  const choices = new Set([...(types.value ?? []).map(({ type }) => type), TEST_EVENT, ...(eventType === '' ? [] : [eventType])]);
  const wrong = FIELDS.flatMap((name) => messagesFor(problem, name));

  // An input of a time reports every key press, so these addresses do not go into the history.
  const range = (change: Narrowing): void => goInstead(to(change));

  function timeChosen(chosen: string): void {
    if (chosen !== RANGE) return narrow({ time: chosen, from: undefined, before: undefined });
    narrow({ time: RANGE, from: new Date(Math.floor((Date.now() - 24 * HOUR_MS) / 60_000) * 60_000).toISOString() });
  }

  return (
    <form class="filters" aria-label="Filter deliveries" onSubmit={(event) => event.preventDefault()}>
      <label>
        Status
        <select name="progress" value={progress} onChange={(event) => narrow({ progress: event.currentTarget.value })}>
          <option value="">All</option>
          {PROGRESS.map((each) => (
            <option key={each} value={each}>
              {progressName(each)}
            </option>
          ))}
        </select>
      </label>
      <label>
        Event
        <select name="eventType" value={eventType} onChange={(event) => narrow({ eventType: event.currentTarget.value })}>
          <option value="">All</option>
          {[...choices].map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      </label>
      <label>
        Time
        <select name="time" value={time} onChange={(event) => timeChosen(event.currentTarget.value)}>
          <option value="">Any</option>
          {Object.entries(TIMES).map(([value, [title]]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
          <option value={RANGE}>From … to …</option>
        </select>
      </label>
      <label>
        Subject
        <input
          name="subject"
          type="search"
          value={subject}
          placeholder="SR-204"
          autocomplete="off"
          spellcheck={false}
          maxLength={100}
          aria-invalid={messagesFor(problem, 'subject').length > 0 || undefined}
          aria-describedby={wrong.length > 0 ? 'filter-error' : undefined}
          onChange={(event) => narrow({ subject: event.currentTarget.value.trim() })}
        />
      </label>
      {time === RANGE && (
        <>
          <MomentInput name="from" label="From" at={from} onGiven={(at) => range({ from: at })} />
          <MomentInput name="before" label="To" at={before} since={from} onGiven={(at) => range({ before: at })} />
        </>
      )}
      {wrong.length > 0 && (
        <p class="error" id="filter-error">
          {wrong.join(' ')}
        </p>
      )}
    </form>
  );
}
