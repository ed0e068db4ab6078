/** Folder of the compile cache that Node keeps for the bundles. */
export const COMPILED: string;

/** The bundle of a program such as `services/billing/src/main.ts`; undefined if there is none or its modules have changed. */
export function bundleOf(program: string): string | undefined;

/** Bundles the system's programs if their modules have changed. Resolves to the bundles' paths by program. Rejects if a module has an error. */
export function bundleSystem(): Promise<ReadonlyMap<string, string>>;

/** The same for the programs that start the system; the next start uses them. */
export function bundleSupervisor(): Promise<void>;
