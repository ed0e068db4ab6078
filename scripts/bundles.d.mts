/** Where Node keeps the compiled code of bundles. */
export const COMPILED: string;

/** What is run of a program, `services/billing/src/main.ts`, when it was bundled; undefined where there is no bundle of its modules as they are now. */
export function bundleOf(program: string): string | undefined;

/** Bundles the programs of a system where they are not as their modules are. Resolves to where they lie. Rejects where a module is wrong. */
export function bundleSystem(): Promise<ReadonlyMap<string, string>>;

/** The same of what starts them, for the next time. */
export function bundleSupervisor(): Promise<void>;
