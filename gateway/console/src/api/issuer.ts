// Signing in at the issuer by OpenID Connect: authorization code with PKCE.
import {
  AuthorizationResponseError,
  None,
  ResponseBodyError,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  calculatePKCECodeChallenge,
  discoveryRequest,
  generateRandomCodeVerifier,
  generateRandomNonce,
  generateRandomState,
  processAuthorizationCodeResponse,
  processDiscoveryResponse,
  validateAuthResponse,
  type AuthorizationServer,
} from 'oauth4webapi';
import { claimsOf } from '../state/claims.ts';
import { Problem } from './problem.ts';

/** The gateway puts this into the page (src/console-sign-in.ts). */
interface Settings {
  readonly issuer: string;
  readonly clientId: string;
  readonly scope: string;
  readonly audience: string;
  readonly parameters: readonly (readonly [string, string])[];
  readonly name?: string;
}

/** A sign-in that was begun in this tab. */
export interface Pending {
  readonly state: string;
  readonly verifier: string;
  /** The ID token must repeat it, which proves that it was made for this sign-in. */
  readonly nonce: string;
  /** Where the user was going: the part of the address after #. */
  readonly place: string;
}

const TIMEOUT_MS = 20_000;

const content = document.querySelector<HTMLMetaElement>('meta[name="sign-in"]')?.content;
const settings = content === undefined ? undefined : (JSON.parse(content) as Settings);

/** Whether people sign in at an issuer. Otherwise they paste a user token. */
export const hasIssuer = settings !== undefined;
/** The issuer as people know it: `id.example.com`. */
export const issuerName = settings === undefined ? '' : (settings.name ?? new URL(settings.issuer).host);

/** The console's own address. The issuer must know it, so it has no query and no place. */
const redirectUri = new URL('console', document.baseURI).href;

const refusal = (message: string): Problem => new Problem(message, { code: 'SIGN_IN' });

/** The address of the issuer's sign-in page. With `asks`, users choose an account although the issuer remembers them. */
export async function addressToSignIn({ state, verifier, nonce }: Pending, asks: boolean): Promise<string> {
  const { clientId, scope, parameters } = settings!;
  const { authorization_endpoint } = await discover();
  if (authorization_endpoint === undefined) throw refusal(`${issuerName} names no sign-in page. The operator of Truckroll must check TOKEN_ISSUER.`);
  const address = new URL(authorization_endpoint);
  const own = {
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope,
    state,
    nonce,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(asks ? { prompt: 'login' } : {}),
  };
  for (const [name, value] of [...parameters, ...Object.entries(own)]) address.searchParams.append(name, value);
  return address.href;
}

export const newPending = (place: string): Pending => ({
  state: generateRandomState(),
  verifier: generateRandomCodeVerifier(),
  nonce: generateRandomNonce(),
  place,
});

/** Whether the address is one to which the issuer sent the user back. */
export const isAnswer = (query: URLSearchParams): boolean => query.has('state') && (query.has('code') || query.has('error'));

/** The access token for the issuer's answer. Throws Problem with a sentence that says what to do. */
export async function tokenFor(query: URLSearchParams, pending: Pending | undefined): Promise<string> {
  if (settings === undefined || pending === undefined || pending.state !== query.get('state')) {
    throw refusal('This answer belongs to no sign-in that began in this tab, or was used before. Sign in again.');
  }
  const server = await discover();
  const client = { client_id: settings.clientId };
  try {
    const answer = validateAuthResponse(server, client, query, pending.state);
    const response = await authorizationCodeGrantRequest(server, client, None(), answer, redirectUri, pending.verifier, options());
    const { access_token } = await processAuthorizationCodeResponse(server, client, response, { requireIdToken: true, expectedNonce: pending.nonce });
    requireUsable(access_token);
    return access_token;
  } catch (error) {
    throw explained(error);
  }
}

async function discover(): Promise<AuthorizationServer> {
  const issuer = new URL(settings!.issuer);
  let server: AuthorizationServer;
  try {
    server = await processDiscoveryResponse(issuer, await discoveryRequest(issuer, { algorithm: 'oidc', ...options() }));
  } catch (error) {
    if (isUnreached(error)) throw unreached();
    if (codeOf(error) === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED') throw another('it describes itself as another issuer');
    throw refusal(`${issuerName} sent no description of an OpenID Connect issuer. The operator of Truckroll must check TOKEN_ISSUER.`);
  }
  // The library compares addresses, but tokens name the issuer character by character.
  if (server.issuer !== settings!.issuer) throw another(`it calls itself ${server.issuer}`);
  const { token_endpoint } = server;
  if (token_endpoint !== undefined && new URL(token_endpoint).origin !== issuer.origin) {
    throw refusal(`${issuerName} gives out tokens at another address, ${new URL(token_endpoint).host}, which the console must not use.`);
  }
  return server;
}

const another = (why: string): Problem =>
  refusal(`${issuerName} is not the issuer that this installation trusts: ${why}. The operator of Truckroll must correct TOKEN_ISSUER.`);

const unreached = (): Problem => refusal(`The identity provider ${issuerName} could not be reached. Check the connection and try again.`);

/** The library refuses plain HTTP. The gateway allows it only for an issuer on this machine. */
const options = () => ({ signal: AbortSignal.timeout(TIMEOUT_MS), [allowInsecureRequests]: settings!.issuer.startsWith('http:') });

/** Finds what the API would refuse with a message for developers. */
function requireUsable(token: string): void {
  const { aud, company_id } = claimsOf(token);
  if (![aud].flat().includes(settings!.audience)) {
    throw refusal(
      `${issuerName} knows you, but its access token is not for this API. The operator of Truckroll must have it issued for ${settings!.audience}.`,
    );
  }
  if (typeof company_id !== 'string' || company_id === '') {
    throw refusal(`${issuerName} knows you, but your account belongs to no company in Truckroll. Ask who manages the users of your company.`);
  }
}

function explained(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isUnreached(error)) return unreached();
  if (error instanceof AuthorizationResponseError) return refusal(notSignedIn(error.error, error.error_description));
  if (error instanceof ResponseBodyError) {
    return refusal(
      error.error === 'invalid_grant'
        ? 'The sign-in took too long, or its code was used before. Sign in again.'
        : `${issuerName} gave out no token (${error.error}). The operator of Truckroll must check CONSOLE_CLIENT_ID and the client’s settings.`,
    );
  }
  if (/"iss"|issuer/.test(error instanceof Error ? error.message : ''))
    return refusal('The answer came from another issuer, so you are not signed in. Sign in again.');
  return refusal(`${issuerName} sent an answer that cannot be trusted, so you are not signed in. Sign in again.`);
}

function notSignedIn(error: string, description: string | undefined): string {
  if (error === 'access_denied') return `${issuerName} did not sign you in: the sign-in was cancelled, or you may not use the console.`;
  return `${issuerName} did not sign you in: ${description ?? error}. Sign in again.`;
}

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | undefined)?.code;

/** fetch has no other way to say that there is no answer. */
const isUnreached = (error: unknown): boolean => error instanceof DOMException || (error instanceof TypeError && codeOf(error) === undefined);
