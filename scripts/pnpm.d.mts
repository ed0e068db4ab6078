/** The path of the pinned pnpm, to run with Node; installs it if it is missing. Throws an error that names the difference. */
export function pinnedPnpm(): string;

/** The first package in npm's hidden lockfile that differs from the pinned ones, in words; undefined if they match. */
export function difference(packages: Readonly<Record<string, { integrity?: string }>>, pinned?: Readonly<Record<string, string>>): string | undefined;
