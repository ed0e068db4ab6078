// The demo companies of an installation. `truckroll demo --ensure` creates them and writes this file; `npm start` reads it.
import { issueToken } from './issue-token.ts';

/** In the state folder: `{ "companies": [ … ] }`, including the API keys, which the database stores only as hashes. */
export const DEMO_COMPANIES_FILE = 'demo-companies.json';

/** In the state folder: the key of the first, with which readers of the documentation of `npm start` run samples. */
export const DEMO_KEY_FILE = 'docs-demo-key';

export interface NotedCompany {
  readonly companyId: string;
  readonly userId: string;
  readonly apiKey: string;
  readonly imported: boolean;
}

export interface DemoAccess {
  readonly apiKey: string;
  readonly userToken: string;
  /** Key of a second company, which shares no id with the first. */
  readonly otherApiKey: string;
}

/** Token lifetime in seconds: the default of TOKEN_MAX_AGE. */
export const TOKEN_SECONDS = 86_400;

export async function accessTo(state: string, first: NotedCompany, second: NotedCompany): Promise<DemoAccess> {
  const { token } = await issueToken(state, { subject: first.userId, companyId: first.companyId, lifetimeSeconds: TOKEN_SECONDS });
  return { apiKey: first.apiKey, userToken: token, otherApiKey: second.apiKey };
}
