import { compileFilter, type EventFilter, type Matcher } from './compile.ts';
import { pathsOfType } from './paths.ts';

/** Maximum length of the kept filters' texts, each counted once per compiled type. Compiled, a filter takes several times as much memory. */
const MOST_CHARACTERS = 4_000_000;

interface Kept {
  /** The version of the endpoint's filter. */
  readonly text: string;
  readonly ofTypes: Map<string, Matcher>;
}

/** Compiled filters by endpoint, in their present version. */
const kept = new Map<string, Kept>();
let characters = 0;

/** The matcher of an endpoint's stored filter, for events of a type. Compiled once per version and type, and forgotten when a new version comes. */
export function matcherOf(endpointId: string, text: string, type: string): Matcher {
  const found = kept.get(endpointId);
  if (found !== undefined && found.text !== text) forget(endpointId, found);
  const own = kept.get(endpointId) ?? { text, ofTypes: new Map<string, Matcher>() };
  kept.set(endpointId, own);
  let matcher = own.ofTypes.get(type);
  if (matcher === undefined) {
    own.ofTypes.set(type, (matcher = compileText(text, type)));
    characters += text.length;
    for (const [id, oldest] of kept) {
      if (characters <= MOST_CHARACTERS) break;
      if (id !== endpointId) forget(id, oldest);
    }
  }
  return matcher;
}

function forget(endpointId: string, { text, ofTypes }: Kept): void {
  kept.delete(endpointId);
  characters -= text.length * ofTypes.size;
}

/** Compiles a filter that is not stored, such as a preview's. */
export function compileText(text: string, type: string): Matcher {
  return compileFilter(JSON.parse(text) as EventFilter, pathsOfType(type));
}

/** The record that filters look into. */
export function dataOf({ body }: { body: Buffer }): unknown {
  return (JSON.parse(body.toString()) as { data?: unknown }).data;
}

export interface EventSubscription {
  /** The endpoint's. */
  id: string;
  event_types: readonly string[];
  /** JSON text; null lets every event through. */
  filter: string | null;
}

/** The subscriptions that get an event. Its body is parsed once, and only if a filter needs it. */
export function subscribed<S extends EventSubscription>(subscriptions: readonly S[], event: { type: string; body: Buffer }): S[] {
  let data: unknown;
  let parsed = false;
  return subscriptions.filter(({ id, event_types, filter }) => {
    if (!event_types.includes(event.type)) return false;
    if (filter === null) return true;
    if (!parsed) [data, parsed] = [dataOf(event), true];
    return matcherOf(id, filter, event.type)(data);
  });
}
