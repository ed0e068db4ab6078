export function install(): void;
export function useHooks(checkout?: string): void;
export function alone<T>(work: () => T, folder?: string): Promise<T>;
