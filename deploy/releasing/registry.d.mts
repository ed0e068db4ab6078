/** The folder of oras and registry. */
export function releaseTools(): string;
