// How people sign in to the console: at the issuer of user tokens, by OpenID Connect (decisions §16).
import { ConfigError } from '@truckroll/process';

/** What the console needs to know. All of it is public: the console's page contains it. */
export interface ConsoleSignIn {
  readonly issuer: string;
  readonly clientId: string;
  readonly scope: string;
  /** `aud` of the access tokens that the API accepts. */
  readonly audience: string;
  /** Further parameters of the authorization request, in order. */
  readonly parameters: readonly (readonly [name: string, value: string])[];
  /** What people call the issuer; its host if it has no name here. */
  readonly name?: string;
}

/** Parameters that the console sets itself. */
const OWN = ['client_id', 'redirect_uri', 'response_type', 'response_mode', 'scope', 'state', 'nonce', 'code_challenge', 'code_challenge_method', 'prompt'];

/** Longest name that fits on the button. */
const LONGEST_NAME = 60;

/** Values of CONSOLE_CLIENT_ID, CONSOLE_SCOPE, TOKEN_ISSUER and so on. */
interface SignInSettings {
  readonly consoleClientId?: string | undefined;
  readonly consoleScope?: string;
  readonly consoleSignInParameters?: string | undefined;
  readonly consoleSignInName?: string | undefined;
  readonly tokenIssuer?: string | undefined;
  readonly tokenAudience?: string | undefined;
  readonly tokenJwksUrl?: string | undefined;
  readonly tokenJwksFile?: string | undefined;
}

/** Undefined without CONSOLE_CLIENT_ID: then people paste a user token. Throws ConfigError. */
export function consoleSignIn(config: SignInSettings): ConsoleSignIn | undefined {
  const {
    consoleClientId: clientId,
    consoleScope = '',
    consoleSignInParameters,
    consoleSignInName: name,
    tokenIssuer: issuer,
    tokenAudience: audience,
  } = config;
  if (clientId === undefined) return undefined;
  const faults: string[] = [];
  // An invalid address of keys is absent, and is reported by itself.
  const hasNoKeys = 'tokenJwksUrl' in config && (config.tokenJwksUrl ?? config.tokenJwksFile) === undefined;
  if (issuer === undefined || audience === undefined || hasNoKeys) {
    faults.push('CONSOLE_CLIENT_ID is set, so TOKEN_ISSUER, TOKEN_AUDIENCE and TOKEN_JWKS_URL must be, too: the console uses tokens of that issuer');
  }
  if (audience === clientId) {
    faults.push(
      'TOKEN_AUDIENCE and CONSOLE_CLIENT_ID are the same, so ID tokens of the console could open the API: register the API at the issuer under another audience, and set TOKEN_AUDIENCE to it',
    );
  }
  if (issuer !== undefined && !isSafe(issuer)) {
    faults.push('CONSOLE_CLIENT_ID is set, so TOKEN_ISSUER must be the https address of an OpenID Connect issuer, without a query');
  }
  const scope = consoleScope.split(/\s+/).filter((each) => each !== '');
  if (!scope.includes('openid')) faults.push('CONSOLE_SCOPE must contain openid');
  const parameters = [...new URLSearchParams(consoleSignInParameters)];
  const own = parameters.map(([name]) => name).find((name) => OWN.includes(name));
  if (own !== undefined) faults.push(`CONSOLE_SIGN_IN_PARAMETERS contains ${own}, which the console sets itself`);
  if (name !== undefined && name.length > LONGEST_NAME) faults.push(`CONSOLE_SIGN_IN_NAME has more than ${LONGEST_NAME} characters`);
  if (issuer === undefined || audience === undefined || faults.length > 0) throw new ConfigError(faults.join('\n'));
  return { issuer, clientId, scope: scope.join(' '), audience, parameters, ...(name !== undefined && { name }) };
}

/** Loopback addresses need no TLS, because their traffic stays on the machine. */
function isSafe(issuer: string): boolean {
  const url = URL.parse(issuer);
  if (url === null || url.search !== '' || url.hash !== '' || url.username !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname));
}
