/**
 * Records, under a name, the state of the source files and folders and of the files made from them; all paths are relative to the
 * root. A source that changed after `beganAt` (ms since 1970) counts as changed, because the output may not contain the change.
 */
export function note(name: string, of: { readonly sources: readonly string[]; readonly made: readonly string[]; readonly beganAt: number }): void;

/** Whether all recorded files are unchanged; false if nothing is recorded under the name. */
export function isAsNoted(name: string): boolean;
