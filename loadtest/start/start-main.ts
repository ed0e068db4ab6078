// Runs what `npm start` runs, on the given state folder.
import { runMain, start } from '@truckroll/local-stack';
import { stopRequest } from '@truckroll/local-stack/stop-request';

const { DATABASE_URL: _d, REDIS_URL: _r, KAFKA_BROKERS: _k, PORT: _p, ...environment } = process.env;
await runMain(() => start({ state: process.argv[2] as string, environment, stop: stopRequest }));
