import * as client from './node_modules/@truckroll/client/dist/index.js';
import { program } from './program.mjs';

export default {
  fetch: async (request) => new globalThis.Response(await program(client, await request.json())),
};
