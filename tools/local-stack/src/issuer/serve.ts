// Serves the local issuer. The provider is loaded at the first request, so that `npm start` does not become slower.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { parseHost } from '@truckroll/process/addresses';
import type { Provider } from 'oidc-provider';
import { problemPage, signInPage } from './page.ts';
import type { IssuerOptions, IssuerUser } from './client.ts';

/** Longest body of a chosen user, in bytes. */
const LONGEST_BODY = 4096;
const SIGN_IN = /^\/sign-in\/[\w-]+$/;

export interface RunningIssuer {
  close(): Promise<void>;
}

export async function serveIssuer(options: IssuerOptions): Promise<RunningIssuer> {
  let loading: Promise<Provider> | undefined;
  const provider = (): Promise<Provider> => (loading ??= import('./provider.ts').then(({ createProvider }) => createProvider(options)));
  const server = createServer((request, response) => {
    answer(request, response, provider, options).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else
        sendPage(
          response,
          400,
          problemPage(`${(error as Error).message}. Begin again where you signed in: in the console, or with \`truckroll login --device\`.`),
        );
    });
  });
  await listen(server, new URL(options.issuer));
  return {
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, provider: () => Promise<Provider>, options: IssuerOptions): Promise<void> {
  // Protects against DNS rebinding: another site's name may resolve to this machine.
  if (request.headers.host !== new URL(options.issuer).host) return sendPage(response, 421, problemPage(`The issuer is at ${options.issuer}`));
  const path = (request.url ?? '').replace(/\?.*/, '');
  if (!SIGN_IN.test(path)) return void (await provider()).callback()(request, response);
  const signIns = await provider();
  // Rejects unless this browser has begun the sign-in that the path names.
  await signIns.interactionDetails(request, response);
  const users = await options.users();
  if (request.method !== 'POST') return sendPage(response, 200, signInPage(users));
  const chosen = chosenIn(users, await bodyOf(request));
  if (chosen === undefined) return sendPage(response, 400, signInPage(users));
  await signIns.interactionFinished(request, response, { login: { accountId: chosen.subject } });
}

function chosenIn(users: readonly IssuerUser[], body: string): IssuerUser | undefined {
  const subject = new URLSearchParams(body).get('subject');
  return users.find((user) => user.subject === subject);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) {
    body += String(chunk);
    if (body.length > LONGEST_BODY) throw new Error('The request is too large');
  }
  return body;
}

function sendPage(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' }).end(text);
}

function listen(server: Server, { hostname, port }: URL): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(Number(port), parseHost(hostname), resolve);
  });
}
