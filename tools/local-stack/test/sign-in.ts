// Signs in as the console does, without a browser.
import { createHash, randomBytes } from 'node:crypto';

interface SignedIn {
  readonly offered: readonly string[];
  readonly token: string;
}

export async function signInAsFirst(baseUrl: string): Promise<SignedIn> {
  const page = await (await fetch(`${baseUrl}/console`)).text();
  const content = /<meta name="sign-in" content="([^"]*)">/.exec(page)![1]!.replaceAll('&#34;', '"');
  const { issuer, clientId: client_id, scope } = JSON.parse(content) as { issuer: string; clientId: string; scope: string };
  const described = await fetch(`${issuer}/.well-known/openid-configuration`);
  const { authorization_endpoint, token_endpoint } = (await described.json()) as Record<'authorization_endpoint' | 'token_endpoint', string>;
  const code_verifier = randomBytes(32).toString('base64url');
  const redirect_uri = `${baseUrl}/console`;
  const challenge = { code_challenge: createHash('sha256').update(code_verifier).digest('base64url'), code_challenge_method: 'S256' };
  const query = new URLSearchParams({ client_id, redirect_uri, scope, response_type: 'code', state: 's', ...challenge });

  const cookies = new Map<string, string>();
  const ask = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url, { redirect: 'manual', headers: { cookie }, ...init });
    for (const each of answer.headers.getSetCookie()) cookies.set(...(each.split(';')[0]!.split(/=(.*)/).slice(0, 2) as [string, string]));
    return answer;
  };
  const next = async (url: string, init?: RequestInit): Promise<string> => new URL((await ask(url, init)).headers.get('location')!, issuer).href;

  const signIn = await next(`${authorization_endpoint}?${String(query)}`);
  const html = await (await ask(signIn)).text();
  const [subject] = [...html.matchAll(/name="subject" value="([^"]+)"/g)].map((match) => match[1]!);
  const resume = await next(signIn, { method: 'POST', body: new URLSearchParams({ subject: subject! }) });
  const back = new URL(await next(resume));
  const body = new URLSearchParams({ grant_type: 'authorization_code', client_id, redirect_uri, code_verifier, code: back.searchParams.get('code')! });
  const { access_token } = (await (await fetch(token_endpoint, { method: 'POST', body })).json()) as { access_token: string };
  return { offered: [...html.matchAll(/<strong>([^<]+)<\/strong>/g)].map((match) => match[1]!), token: access_token };
}
