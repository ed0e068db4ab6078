// An installation and its issuer, at which users sign in by a code.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface StandInIssuer {
  readonly url: string;
  close(): void;
}

/** `answer` returns the status and body of the next answer to the question for the token; the connection is cut for undefined. */
export async function startIssuer(answer: () => [number, object] | undefined, expiresIn = 60, named?: string): Promise<StandInIssuer> {
  const server = createServer((request, response) => {
    const own = `http://${request.headers.host}`;
    const answers: Record<string, object> = {
      '/.well-known/oauth-protected-resource': { authorization_servers: [named ?? own] },
      '/.well-known/openid-configuration': { issuer: own, token_endpoint: `${own}/token`, device_authorization_endpoint: `${own}/device` },
      '/device': { device_code: 'dev-1', user_code: 'WDJB-MJHT', verification_uri: `${own}/code`, expires_in: expiresIn, interval: 0.01 },
    };
    const known = answers[request.url!];
    const next = known === undefined ? answer() : ([200, known] as const);
    if (next === undefined) request.socket.destroy();
    else response.writeHead(next[0], { 'content-type': 'application/json' }).end(JSON.stringify(next[1]));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() };
}
