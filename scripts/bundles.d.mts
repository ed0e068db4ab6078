/** Folder of the compile cache that Node keeps for the bundles. */
export const COMPILED: string;

/** Main module by component of the system. */
export const SYSTEM: Readonly<Record<string, string>>;

/** The bundle of a program that starts the system; undefined if there is none or its modules have changed. */
export function bundleOf(program: string): string | undefined;

/** Bundles the system if its modules have changed. Resolves to the bundles' paths by component. Rejects if a module has an error. */
export function bundleSystem(): Promise<ReadonlyMap<string, string>>;

/** Bundles the programs that start the system, for the next start. */
export function bundleSupervisor(): Promise<void>;

export interface Rebuilt {
  readonly script: string;
  /** The files and folders that it was built from, outside of packages; absolute paths. */
  readonly sources: readonly string[];
}

export interface Rebundler {
  /** Rejects if a module has an error. */
  build(): Promise<Rebuilt>;
  dispose(): Promise<void>;
}

/** Bundles one program again and again, with source maps and without packages, each time into a new folder below `folder`. */
export function rebundler(program: string, folder: string): Promise<Rebundler>;
