export const COMPILED: string;

export function bundleOf(program: string): string | undefined;

export function bundleSystem(): Promise<ReadonlyMap<string, string>>;

export function bundleSupervisor(): Promise<void>;
