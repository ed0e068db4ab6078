// Keeps a copy as a program of a user does, and prints a line for each stored page: tests kill it.
import { createClient } from '../../packages/client/src/index.ts';
import { openCopy } from './copies.ts';

const { URL: baseUrl = '', KEY: token = '', STORE, PLACE = '', LIMIT = '50', FOLLOW } = process.env;
const copy = await openCopy(STORE as 'sqlite' | 'postgres', PLACE);
await createClient({ baseUrl, token }).sync(copy.store, {
  limit: Number(LIMIT),
  follow: FOLLOW !== undefined,
  onPage: ({ data }) => process.stdout.write(`${data.length}\n`),
});
await copy.close();
