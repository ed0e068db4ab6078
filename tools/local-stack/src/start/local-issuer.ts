import { join } from 'node:path';
import { DEMO_COMPANIES_FILE, TOKEN_SECONDS, type NotedCompany } from '../demo-companies.ts';
import { readJson } from '../files.ts';
import type { IssuerUser } from '../issuer/client.ts';
import { serveIssuer, type RunningIssuer } from '../issuer/serve.ts';
import { tokenIssuer } from '../token-issuer.ts';
import { read } from './readiness.ts';

interface Me {
  readonly displayName: string;
  readonly email: string;
  readonly company: { readonly id: string; readonly name: string };
}

export async function startLocalIssuer(state: string, baseUrl: string): Promise<RunningIssuer> {
  // Browsers treat the two names of this machine as two sites, and a newcomer may type either.
  const consoleUrls = [baseUrl, baseUrl.replace(/127\.0\.0\.1|\[::1\]/, 'localhost')].map((url) => `${url}/console`);
  return await serveIssuer({ ...tokenIssuer(state), consoleUrls, lifetimeSeconds: TOKEN_SECONDS, users: () => demoUsers(state, baseUrl) });
}

async function demoUsers(state: string, baseUrl: string): Promise<IssuerUser[]> {
  const companies = readJson<{ companies: NotedCompany[] }>(join(state, DEMO_COMPANIES_FILE))?.companies ?? [];
  const users = await Promise.all(companies.map(({ userId, apiKey }) => userOf(userId, apiKey, baseUrl)));
  return users.filter((user) => user !== undefined);
}

async function userOf(subject: string, apiKey: string, baseUrl: string): Promise<IssuerUser | undefined> {
  const answer = await read(`${baseUrl}/api/v1/me`, { authorization: `Bearer ${apiKey}` });
  if (answer?.status !== 200) return undefined;
  const { displayName, email, company } = (JSON.parse(answer.body) as { data: Me }).data;
  return { subject, name: displayName, email, company };
}
