#!/usr/bin/env node
// `npx truckroll`, on whatever Node the machine has: installs, generates and starts the command line as `npm start` does.
process.argv.splice(2, 0, 'truckroll');
await import('../../../scripts/run.mjs');
