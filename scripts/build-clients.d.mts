/** What index.json says of a folder VERSION/FILE: packages of `version` come first. */
export function indexOf(folder: string, version: string): { version: string; clients: { version: string; file: string; install: string }[] };
