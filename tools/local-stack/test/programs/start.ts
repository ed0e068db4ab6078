import { runMain } from '../../src/problem.ts';
import { stopRequest } from '../../src/processes/stop-request.ts';
import { start } from '../../src/start/start.ts';

const { DATABASE_URL: _d, REDIS_URL: _r, KAFKA_BROKERS: _k, PORT: _p, ...environment } = process.env;
const [state = '', ...args] = process.argv.slice(2);
/** Arguments such as HOST=::1 are variables. */
const given = Object.fromEntries(args.filter((arg) => arg.includes('=')).map((arg) => arg.split('=', 2) as [string, string]));
await runMain(() => start({ state, environment: { ...environment, ...given }, observed: args.includes('--observe'), stop: stopRequest }));
