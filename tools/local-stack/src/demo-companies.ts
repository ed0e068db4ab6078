// The demo companies of an installation: truckroll demo --ensure makes them and notes them, npm start finds them again.
import { issueToken } from './issue-token.ts';

/** In the state folder: `{ "companies": [ … ] }`, with the keys that the database knows only as hashes. */
export const DEMO_COMPANIES_FILE = 'demo-companies.json';

/** What is noted of one. */
export interface NotedCompany {
  readonly companyId: string;
  readonly userId: string;
  readonly apiKey: string;
  /** Whether all records were taken in. */
  readonly imported: boolean;
}

/** How a person gets in, and scripts, by ready.json. */
export interface DemoAccess {
  readonly apiKey: string;
  readonly userToken: string;
  /** Of another company, with no id in common. */
  readonly otherApiKey: string;
}

/** Seconds until the token ends: the default of TOKEN_MAX_AGE. */
const TOKEN_SECONDS = 86_400;

/** With a new token of the first one's user. */
export async function accessTo(state: string, first: NotedCompany, second: NotedCompany): Promise<DemoAccess> {
  const { token } = await issueToken(state, { subject: first.userId, companyId: first.companyId, lifetimeSeconds: TOKEN_SECONDS });
  return { apiKey: first.apiKey, userToken: token, otherApiKey: second.apiKey };
}
