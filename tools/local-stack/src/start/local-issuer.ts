import { TOKEN_SECONDS } from '../demo-companies.ts';
import { serveIssuer, type RunningIssuer } from '../issuer/serve.ts';
import { tokenIssuer } from '../token-issuer.ts';
import type { AdminServices } from './users.ts';

export async function startLocalIssuer(state: string, baseUrl: string, admin: AdminServices): Promise<RunningIssuer> {
  // Browsers treat the two names of this machine as two sites, and a newcomer may type either.
  const consoleUrls = [baseUrl, baseUrl.replace(/127\.0\.0\.1|\[::1\]/, 'localhost')].map((url) => `${url}/console`);
  return await serveIssuer({
    ...tokenIssuer(state),
    consoleUrls,
    lifetimeSeconds: TOKEN_SECONDS,
    // Loaded at the first sign-in, so that `npm start` does not become slower.
    users: async () => await (await import('./users.ts')).usersOf(admin),
  });
}
