import { runService } from '@truckroll/process';
import { integrationsConfig } from './config.ts';
import { createIntegrations } from './integrations.ts';

await runService('integrations', () => createIntegrations(integrationsConfig(process.env)));
