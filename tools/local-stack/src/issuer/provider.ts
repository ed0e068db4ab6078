// The OpenID Connect provider of a local installation. It asks for no password, so it must only listen on this machine.
import { randomBytes } from 'node:crypto';
import { Provider, type Configuration, type KoaContextWithOIDC } from 'oidc-provider';
import { CLI_CLIENT_ID, CONSOLE_CLIENT_ID, type IssuerOptions, type IssuerUser } from './client.ts';
import { Memory } from './memory.ts';
import { codePage, confirmPage, problemPage, signedInPage } from './page.ts';

/** Where people choose who they are, followed by the id of the sign-in. */
const SIGN_IN = '/sign-in/';

/** Names the API within the issuer, which asks for a URI. The tokens' `aud` is the configured audience. */
const API = 'urn:truckroll:api';
/** Time limits in seconds for choosing a user, for exchanging the code, and for entering that of another device. */
const SIGN_IN_SECONDS = 3600;
const CODE_SECONDS = 60;
const DEVICE_SECONDS = 600;

export function createProvider({ issuer, audience, privateKey, consoleUrls, users, lifetimeSeconds }: IssuerOptions): Provider {
  const memory = new Memory();
  const userOf = async ({ oidc }: KoaContextWithOIDC): Promise<IssuerUser | undefined> =>
    (await users()).find(({ subject }) => subject === oidc.session?.accountId);
  const configuration: Configuration = {
    adapter: (kind) => memory.adapter(kind),
    clients: [
      {
        client_id: CONSOLE_CLIENT_ID,
        client_name: 'Truckroll console',
        redirect_uris: [...consoleUrls],
        grant_types: ['authorization_code'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
        id_token_signed_response_alg: 'ES256',
      },
      {
        client_id: CLI_CLIENT_ID,
        client_name: 'Truckroll command line',
        redirect_uris: [],
        grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
        response_types: [],
        token_endpoint_auth_method: 'none',
        id_token_signed_response_alg: 'ES256',
      },
    ],
    jwks: { keys: [privateKey] },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    responseTypes: ['code'],
    scopes: ['openid'],
    pkce: { required: () => true },
    clientBasedCORS: (_context, origin) => consoleUrls.some((url) => new URL(url).origin === origin),
    findAccount: (_context, subject) => ({ accountId: subject, claims: async () => ({ sub: subject }) }),
    // Grants everything without a consent page, because both clients are Truckroll's own.
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({ clientId: oidc.client!.clientId, accountId: oidc.session!.accountId! });
      grant.addOIDCScope('openid');
      grant.addResourceScope(API, '');
      await grant.save();
      return grant;
    },
    async extraTokenClaims(_context, token) {
      const subject = (token as { accountId?: string }).accountId;
      const user = (await users()).find((one) => one.subject === subject);
      if (user === undefined) throw new Error('the user is not known now: choose again on the sign-in page');
      return user.company === undefined ? {} : { company_id: user.company.id };
    },
    features: {
      devInteractions: { enabled: false },
      deviceFlow: {
        enabled: true,
        userCodeInputSource: (context, form, _out, error) => void (context.body = codePage(form, error !== undefined)),
        userCodeConfirmSource: async (context, form, _client, _device, code) => void (context.body = confirmPage(form, code, await userOf(context))),
        successSource: async (context) => void (context.body = signedInPage(await userOf(context))),
      },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => API,
        getResourceServerInfo: () => ({
          audience,
          scope: '',
          accessTokenFormat: 'jwt',
          accessTokenTTL: lifetimeSeconds,
          jwt: { sign: { alg: 'ES256' } },
        }),
      },
    },
    renderError(context, { error, error_description }) {
      context.type = 'html';
      context.body = problemPage(`${error_description ?? error}.`);
    },
    interactions: { url: (_context, { uid }) => `${SIGN_IN}${uid}` },
    ttl: {
      AccessToken: lifetimeSeconds,
      AuthorizationCode: CODE_SECONDS,
      DeviceCode: DEVICE_SECONDS,
      Grant: lifetimeSeconds,
      IdToken: SIGN_IN_SECONDS,
      Interaction: SIGN_IN_SECONDS,
      Session: lifetimeSeconds,
    },
  };
  return new Provider(issuer, configuration);
}
