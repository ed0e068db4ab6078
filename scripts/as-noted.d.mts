/**
 * Notes under a name how files and folders are now from which something was made, and what was made; all below the root. A source that has
 * changed since making began (ms since 1970) may not be in what was made, so it counts as changed.
 */
export function note(name: string, of: { readonly sources: readonly string[]; readonly made: readonly string[]; readonly beganAt: number }): void;

/** Whether everything is as it was noted under that name; false where nothing was. */
export function isAsNoted(name: string): boolean;
