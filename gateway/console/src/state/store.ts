import { useEffect, useState } from 'preact/hooks';

/** A value outside of components that components can watch. */
export class Store<T> {
  #value: T;
  readonly #watchers = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set(value: T): void {
    this.#value = value;
    for (const watcher of [...this.#watchers]) watcher();
  }

  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }
}

/** The store's value. The component renders again when it changes. */
export function useStore<T>(store: Store<T>): T {
  const [, setVersion] = useState(0);
  const { value } = store;
  useEffect(() => {
    const watcher = (): void => setVersion((version) => version + 1);
    // The value may have changed since the component was rendered.
    if (store.value !== value) watcher();
    return store.watch(watcher);
  }, [store]);
  return value;
}
