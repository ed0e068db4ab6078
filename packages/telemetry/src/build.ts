/** Version and commit of this build. Images set them in their environment; a checkout sets neither. */
export interface Build {
  readonly version: string;
  readonly commit: string;
}

/** `checkout` and `unknown` for what the environment does not say. */
export function readBuild(environment: Readonly<Record<string, string | undefined>>): Build {
  return { version: environment['TRUCKROLL_VERSION'] || 'checkout', commit: environment['TRUCKROLL_COMMIT'] || 'unknown' };
}
