// What an entry of the audit trail keeps of an object (decisions §17).

/** Size above which a value is kept as its length and hash, in bytes of JSON. */
const MOST_VALUE_BYTES = 1024;

type State = Readonly<Record<string, unknown>>;

/** The fields that a change changed, before and after it. */
export function changedFields(before: string, after: string): { before: string; after: string } {
  const [old, fresh] = [before, after].map((text) => JSON.parse(text) as State) as [State, State];
  const differs = (name: string): boolean => JSON.stringify(old[name]) !== JSON.stringify(fresh[name]);
  const pick = (state: State): string => JSON.stringify(Object.fromEntries(Object.entries(state).filter(([name]) => differs(name))));
  return { before: pick(old), after: pick(fresh) };
}

/** The state with a length and a keyed hash in place of each large value. */
export function shortened(state: State, hashOf: (json: string) => string): State {
  const entries = Object.entries(state).map(([name, value]) => {
    const json = JSON.stringify(value) ?? 'null';
    const length = Buffer.byteLength(json);
    return [name, length > MOST_VALUE_BYTES ? { length, hash: hashOf(json) } : value] as const;
  });
  return Object.fromEntries(entries);
}
