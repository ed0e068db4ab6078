import type { Changes } from './changes.mjs';

/** Adds the record /v1/<path> to its owner. Throws Refusal. Returns what is left to do. */
export function addRecord(changes: Changes, root: string, path: string, options: { owner?: string }): string[];
