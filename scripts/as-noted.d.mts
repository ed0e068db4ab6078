export function note(name: string, of: { readonly sources: readonly string[]; readonly made: readonly string[]; readonly beganAt: number }): void;

export function isAsNoted(name: string): boolean;
