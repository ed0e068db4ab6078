/** The program to run with Node, installed if it is not there. Throws a sentence that names what differs. */
export function pinnedPnpm(): string;

/** The first package of npm's hidden lockfile that is not the pinned one, in words; undefined where there is none. */
export function difference(packages: Readonly<Record<string, { integrity?: string }>>, pinned?: Readonly<Record<string, string>>): string | undefined;
