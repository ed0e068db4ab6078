import { runMain } from '../../src/problem.ts';
import { stopRequest } from '../../src/processes/stop-request.ts';
import { start } from '../../src/start/start.ts';

const { DATABASE_URL: _d, REDIS_URL: _r, KAFKA_BROKERS: _k, PORT: _p, ...environment } = process.env;
await runMain(() => start({ state: process.argv[2]!, environment, observed: process.argv[3] === '--observe', stop: stopRequest }));
