// `npm start`: the whole system on this machine, in the foreground.
import { stopRequest } from './processes/stop-request.ts';
import { runMain } from './problem.ts';
import { STATE } from './folder.ts';
import { start } from './start/start.ts';

await runMain(() => start({ state: STATE, environment: process.env, stop: stopRequest }));
