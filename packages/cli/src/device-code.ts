// Signing in at the operator's issuer on another device (RFC 8628): the user enters a code there, and this program waits for the token.
import { setTimeout } from 'node:timers/promises';
import {
  None,
  OperationProcessingError,
  ResponseBodyError,
  allowInsecureRequests,
  deviceAuthorizationRequest,
  deviceCodeGrantRequest,
  discoveryRequest,
  processDeviceAuthorizationResponse,
  processDeviceCodeResponse,
  processDiscoveryResponse,
  type AuthorizationServer,
} from 'oauth4webapi';
import { EXIT, Failure } from './terminal/failure.ts';

const METADATA = '/.well-known/oauth-protected-resource';
/** Seconds between questions where the issuer names none, and what each request to slow down adds (RFC 8628, 3.5). A failed one doubles them. */
const INTERVAL = 5;

interface SignIn {
  readonly baseUrl: string;
  /** What the issuer knows this program as. */
  readonly clientId: string;
  readonly scope: string;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
}

/** Resolves to an access token. Throws Failure if there is no issuer, or the user is refused. */
export async function signInByCode({ baseUrl, clientId, scope, signal, say }: SignIn): Promise<string> {
  const issuer = await issuerOf(baseUrl, signal);
  const client = { client_id: clientId };
  const options = { signal, [allowInsecureRequests]: new URL(issuer).protocol === 'http:' };
  try {
    const server: AuthorizationServer = await processDiscoveryResponse(new URL(issuer), await discoveryRequest(new URL(issuer), options));
    if (server.device_authorization_endpoint === undefined)
      throw new Failure(`${issuer} does not offer sign-in by a code: paste an API key or a user token instead.`, EXIT.refused);
    const begun = await deviceAuthorizationRequest(server, client, None(), { scope }, options);
    const asked = await processDeviceAuthorizationResponse(server, client, begun);
    say(`Open ${asked.verification_uri_complete ?? asked.verification_uri} and enter the code ${asked.user_code}.`);
    const endsAt = Date.now() + asked.expires_in * 1000;
    for (let seconds = asked.interval ?? INTERVAL; ; ) {
      const left = endsAt - Date.now();
      if (left <= 0) throw new Failure(`The code ${asked.user_code} has expired: log in again, and enter the new code in time.`, EXIT.refused);
      await setTimeout(Math.min(left, seconds * 1000), undefined, { signal });
      const answer = await deviceCodeGrantRequest(server, client, None(), asked.device_code, options).catch((error: unknown) => {
        signal.throwIfAborted();
        if (error instanceof OperationProcessingError) throw error;
        return undefined;
      });
      if (answer === undefined || answer.status >= 500) {
        seconds *= 2;
        continue;
      }
      try {
        return (await processDeviceCodeResponse(server, client, answer)).access_token;
      } catch (error) {
        if (!(error instanceof ResponseBodyError) || !['authorization_pending', 'slow_down'].includes(error.error)) throw error;
        if (error.error === 'slow_down') seconds += INTERVAL;
      }
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Failure) throw error;
    const reason = error instanceof ResponseBodyError ? (error.error_description ?? error.error) : (error as Error).message;
    throw new Failure(`${issuer} did not sign you in: ${reason}. Try again, or ask the operator about the client ${clientId}.`, EXIT.refused, error);
  }
}

async function issuerOf(baseUrl: string, signal: AbortSignal): Promise<string> {
  const answer = await fetch(`${baseUrl}${METADATA}`, { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new Failure(`${baseUrl} does not answer. Check TRUCKROLL_URL or --url, and your network.`, EXIT.unreachable, error);
  });
  const metadata = (await answer.json().catch(() => undefined)) as { authorization_servers?: string[] } | undefined;
  const issuer = answer.ok ? metadata?.authorization_servers?.[0] : undefined;
  if (issuer === undefined) throw new Failure(`${baseUrl} names no issuer to sign in at: paste an API key or a user token instead.`, EXIT.refused);
  if (!URL.canParse(issuer))
    throw new Failure(
      `${baseUrl} names the issuer ${issuer}, which is no address: report it to the operator, or paste an API key or a user token.`,
      EXIT.refused,
    );
  return issuer;
}
