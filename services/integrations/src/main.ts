import { runService } from '@truckroll/service-kit';
import { integrationsConfig } from './config.ts';
import { createIntegrations } from './integrations.ts';

await runService('integrations', () => createIntegrations(integrationsConfig(process.env)));
