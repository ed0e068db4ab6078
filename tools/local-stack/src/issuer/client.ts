// What the local issuer and those who start it agree on. Separate from the provider, which takes a third of a second to load.
import type { TokenIssuer } from '../token-issuer.ts';

/** The clients. They are public: neither a browser nor a program of the user can keep a secret. */
export const CONSOLE_CLIENT_ID = 'truckroll-console';
export const CLI_CLIENT_ID = 'truckroll-cli';

export interface IssuerUser {
  /** `sub` of the tokens. */
  readonly subject: string;
  readonly name: string;
  readonly email: string;
  readonly company?: { readonly id: string; readonly name: string } | undefined;
}

export interface IssuerOptions extends TokenIssuer {
  /** Addresses of the console, exactly as browsers show them. */
  readonly consoleUrls: readonly string[];
  readonly users: () => Promise<readonly IssuerUser[]>;
  /** Lifetime of access tokens in seconds. */
  readonly lifetimeSeconds: number;
}
