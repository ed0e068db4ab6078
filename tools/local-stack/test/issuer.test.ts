// The local issuer on its own; test/console signs in with it in a browser, start.test.ts without one.
import { get } from 'node:http';
import { CLI_CLIENT_ID, CONSOLE_CLIENT_ID, type IssuerUser } from '../src/issuer/client.ts';
import { signInPage } from '../src/issuer/page.ts';
import { serveIssuer, type RunningIssuer } from '../src/issuer/serve.ts';
import { choosePort } from '../src/ports.ts';
import { tokenIssuer } from '../src/token-issuer.ts';
import { signIn } from './device-user.ts';
import { Scratch } from './support.ts';

const ANA: IssuerUser = { subject: 'ana', name: 'Ana Ruiz', email: 'ana@example.com' };

const scratch = new Scratch();
let issuer: string;
let running: RunningIssuer;
beforeAll(async () => {
  const tokens = tokenIssuer(scratch.folder(), `http://127.0.0.1:${await choosePort()}`);
  issuer = tokens.issuer;
  running = await serveIssuer({ ...tokens, consoleUrls: ['http://127.0.0.1:1/console'], lifetimeSeconds: 60, users: async () => [ANA] });
});
afterAll(async () => {
  await running.close();
  await scratch.end();
});

/** Like fetch, which cannot send another Host. */
function ask(path: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(`${issuer}${path}`, { headers: { host }, agent: false }, (response) => resolve(response.resume().statusCode)).on('error', reject);
  });
}

test('answers only under its own name, so that no other site can pose as it', async () => {
  const description = '/.well-known/openid-configuration';
  expect(await ask(description, new URL(issuer).host)).toBe(200);
  expect(await ask(description, `attacker.example:${new URL(issuer).port}`)).toBe(421);
});

test('sends codes to the console only, and only with PKCE', async () => {
  const authorize = async (changes: Record<string, string>): Promise<string> => {
    const usual = { client_id: CONSOLE_CLIENT_ID, redirect_uri: 'http://127.0.0.1:1/console', response_type: 'code', scope: 'openid', state: 's' };
    const answer = await fetch(`${issuer}/auth?${String(new URLSearchParams({ ...usual, ...changes }))}`, { redirect: 'manual' });
    return `${answer.status} ${answer.headers.get('location') ?? ''}`;
  };
  const pkce = { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' };
  expect(await authorize(pkce)).toMatch(/^303 .*\/sign-in\//);
  expect(await authorize({})).toMatch(/^303 http:\/\/127.0.0.1:1\/console\?error=invalid_request/);
  expect(await authorize({ ...pkce, redirect_uri: 'http://127.0.0.1:2/console' })).toMatch(/^400 /);
});

/** Posts as a program to an endpoint that the issuer names. */
async function post(endpoint: string, fields: Record<string, string>): Promise<Record<string, string>> {
  const description = (await (await fetch(`${issuer}/.well-known/openid-configuration`)).json()) as Record<string, string>;
  const body = new URLSearchParams({ client_id: CLI_CLIENT_ID, ...fields });
  return (await (await fetch(description[endpoint]!, { method: 'POST', body })).json()) as Record<string, string>;
}

test('signs in a program by the code that it shows, as the user chosen in a browser', async () => {
  const begun = await post('device_authorization_endpoint', { scope: 'openid' });
  const asked = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: begun['device_code']! };
  expect(await post('token_endpoint', asked)).toMatchObject({ error: 'authorization_pending' });
  await signIn(begun['verification_uri_complete']!);
  const { access_token: token = '' } = await post('token_endpoint', asked);
  expect(JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())).toMatchObject({ sub: 'ana', iss: issuer, client_id: CLI_CLIENT_ID });
});

test('names the user that a browser is signed in as, because the issuer does not ask again', async () => {
  const cookies = new Map<string, string>();
  const addresses = await Promise.all([1, 2].map(async () => (await post('device_authorization_endpoint', { scope: 'openid' }))['verification_uri_complete']!));
  const first = await signIn(addresses[0]!, cookies);
  expect(first.confirming).not.toContain('Ana Ruiz');
  expect(first.done).toContain('It is signed in as Ana Ruiz (ana@example.com).');
  const second = await signIn(addresses[1]!, cookies);
  expect(second.confirming).toContain('It will be signed in as Ana Ruiz (ana@example.com), as this browser is.');
  expect(second.done).toContain('It is signed in as Ana Ruiz (ana@example.com).');
});

test('refuses a sign-in that this browser has not begun', async () => {
  const answer = await fetch(`${issuer}/sign-in/made-up`);
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain('Begin again where you signed in: in the console, or with `truckroll login --device`.');
});

test('shows names as text, and says when there are none yet', () => {
  const user: IssuerUser = { subject: '"><script>', name: '<b>Ana</b>', email: 'a@example.com', company: { id: '1', name: 'Smith & Sons' } };
  const page = signInPage([user]);
  expect(page).not.toMatch(/<b>|<script>/);
  expect(page).toContain('Smith &#38; Sons');
  expect(signInPage([])).toContain('The demo companies are still being made.');
});
