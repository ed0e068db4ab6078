export function pinnedPnpm(): string;

export function difference(packages: Readonly<Record<string, { integrity?: string }>>, pinned?: Readonly<Record<string, string>>): string | undefined;
