// `npm start -- --watch`: rebuilds and restarts the components whose sources change.
import { statSync, watch, type FSWatcher } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { rebundler, type Rebundler, type Rebuilt } from '../../../../scripts/bundles.mjs';
import type { Say } from '../say.ts';

/** Saving a file causes several events, and editors may save several files: those within this many milliseconds are one change. */
const SETTLE_MS = 50;

export interface SourceWatchOptions {
  /** Main module by component. */
  readonly components: Readonly<Record<string, string>>;
  /** Receives the bundles. */
  readonly folder: string;
  readonly restart: (name: string, script: string, changedAt: number) => void;
  readonly say: Say;
  readonly signal: AbortSignal;
}

interface Component {
  readonly name: string;
  readonly bundler: Rebundler;
  /** The latest successful build. */
  built: Rebuilt;
  /** Whether a build has failed since. */
  broken: boolean;
}

/**
 * Bundles the components and resolves to their bundles by component. Until the signal, bundles and restarts those whose sources change. Rejects
 * if a module has an error.
 */
export async function watchSources(options: SourceWatchOptions): Promise<ReadonlyMap<string, string>> {
  const components = await Promise.all(
    Object.entries(options.components).map(async ([name, program]): Promise<Component> => {
      const bundler = await rebundler(program, join(options.folder, name));
      return { name, bundler, built: await bundler.build(), broken: false };
    }),
  );
  const bundles = new Map(components.map(({ name, built }) => [name, built.script]));
  void new SourceWatch(components, options).run();
  return bundles;
}

class SourceWatch {
  readonly #components: readonly Component[];
  readonly #options: SourceWatchOptions;
  readonly #changed = new Set<string>();
  #watchers: FSWatcher[] = [];
  #noticed = Promise.withResolvers<void>();

  constructor(components: readonly Component[], options: SourceWatchOptions) {
    this.#components = components;
    this.#options = options;
    this.#follow();
  }

  async run(): Promise<void> {
    const { signal } = this.#options;
    signal.addEventListener('abort', () => this.#noticed.resolve());
    for (;;) {
      await this.#noticed.promise;
      const changedAt = performance.now();
      await delay(SETTLE_MS);
      if (signal.aborted) break;
      this.#noticed = Promise.withResolvers();
      const paths = [...this.#changed];
      this.#changed.clear();
      await this.#rebuild(
        // A module that could not be found may have been any file.
        this.#components.filter(({ built, broken }) => broken || paths.some((path) => built.sources.some((source) => isWithin(path, source)))),
        changedAt,
      );
      this.#follow();
    }
    for (const watcher of this.#watchers) watcher.close();
    await Promise.all(this.#components.map(({ bundler }) => bundler.dispose()));
  }

  /** Watches the folders of all sources. A folder that `npm run generate` has replaced is watched anew. */
  #follow(): void {
    const former = this.#watchers;
    const sources = this.#components.flatMap(({ built }) => built.sources);
    const folders = new Set(sources.flatMap((source) => [source, dirname(source)]).filter(isFolder));
    this.#watchers = [...folders].map((folder) => watch(folder, (_, name) => this.#notice(join(folder, name ?? ''))));
    for (const watcher of former) watcher.close();
  }

  #notice(path: string): void {
    this.#changed.add(path);
    this.#noticed.resolve();
  }

  async #rebuild(components: readonly Component[], changedAt: number): Promise<void> {
    const { restart, say } = this.#options;
    const failures = new Map<string, string[]>();
    await Promise.all(
      components.map(async (component) => {
        try {
          component.built = await component.bundler.build();
          component.broken = false;
          restart(component.name, component.built.script, changedAt);
        } catch (error) {
          component.broken = true;
          const { message } = error as Error;
          failures.set(message, [...(failures.get(message) ?? []), component.name]);
        }
      }),
    );
    for (const [message, names] of failures) say(`not restarted, because the sources have errors: ${names.join(', ')}\n${message}`);
  }
}

/** True for a source, what is in a source folder, and a folder that contains a source. */
function isWithin(path: string, source: string): boolean {
  return path === source || path.startsWith(`${source}/`) || source.startsWith(`${path}/`);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
