/** What a process was built from. Images carry it in their environment; a checkout has neither. */
export interface Build {
  readonly version: string;
  readonly commit: string;
}

export function readBuild(environment: Readonly<Record<string, string | undefined>>): Build {
  return { version: environment['TRUCKROLL_VERSION'] || 'checkout', commit: environment['TRUCKROLL_COMMIT'] || 'unknown' };
}
