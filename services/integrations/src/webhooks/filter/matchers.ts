import { compileFilter, type EventFilter, type Matcher } from './compile.ts';
import { pathsOfType } from './paths.ts';

/** Limits the memory of filters that endpoints had before. */
const MOST_TEXTS = 10_000;

/** Compiled filters by their JSON text, so that each version of an endpoint's filter is compiled once per type of event. */
const compiled = new Map<string, Map<string, Matcher>>();

/** The matcher of a stored filter, for events of a type. */
export function matcherOf(text: string, type: string): Matcher {
  let ofTypes = compiled.get(text);
  if (ofTypes === undefined) {
    if (compiled.size === MOST_TEXTS) compiled.clear();
    compiled.set(text, (ofTypes = new Map<string, Matcher>()));
  }
  let matcher = ofTypes.get(type);
  if (matcher === undefined) ofTypes.set(type, (matcher = compileFilter(JSON.parse(text) as EventFilter, pathsOfType(type))));
  return matcher;
}

/** The record that filters look into. */
function dataOf({ body }: { body: Buffer }): unknown {
  return (JSON.parse(body.toString()) as { data?: unknown }).data;
}

export interface EventSubscription {
  event_types: readonly string[];
  /** JSON text; null lets every event through. */
  filter: string | null;
}

/** The subscriptions that get an event. Its body is parsed once, and only if a filter needs it. */
export function subscribed<S extends EventSubscription>(subscriptions: readonly S[], event: { type: string; body: Buffer }): S[] {
  let data: unknown;
  let parsed = false;
  return subscriptions.filter(({ event_types, filter }) => {
    if (!event_types.includes(event.type)) return false;
    if (filter === null) return true;
    if (!parsed) [data, parsed] = [dataOf(event), true];
    return matcherOf(filter, event.type)(data);
  });
}
