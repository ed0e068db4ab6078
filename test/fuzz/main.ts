// npm run test:fuzz: fuzzes every operation of the description on a whole system with a demo company.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT, Watchdog, runFolder, runMain, say, serverEnvironment, startServers } from '@truckroll/local-stack';
import { fresh } from '../reports/ask.ts';
import { startSystem } from '../support/system.ts';
import { fuzz, requireSchemathesis } from './schemathesis.ts';

const TIMEZONE = 'America/Chicago';

await runMain(async () => {
  const { values } = parseArgs({ options: { seconds: { type: 'string', default: '600' }, seed: { type: 'string', default: '1' } } });
  const program = requireSchemathesis();
  const watchdog = new Watchdog();
  const folder = runFolder('fuzz-runs');
  watchdog.deleteAtEnd(folder);
  const servers = await startServers({ folder, watchdog, say, password: 'fuzz', careless: true, environment: process.env });
  Object.assign(process.env, serverEnvironment(servers));
  try {
    const system = await startSystem();
    try {
      const company = await system.createCompany(TIMEZONE);
      await system.importDemo(company, 5, 60, new Date().toISOString());
      // Until reports have been computed for the first time, they answer 503.
      await fresh(system, company);
      return await fuzz(program, {
        description: join(ROOT, 'gateway/openapi.json'),
        baseUrl: system.baseUrl,
        authorization: `Bearer ${company.apiKey}`,
        seconds: Number(values.seconds),
        seed: Number(values.seed),
      });
    } finally {
      await system.stop();
    }
  } finally {
    await watchdog.stopAll();
  }
});
