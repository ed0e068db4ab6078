// The code of every component, for tests that loop over them. What the list of components has and this file lacks does not compile.
import { owners, type ComponentName, type Owner } from '@truckroll/contract';
import type { DatabaseSchema } from '@truckroll/postgres';
import { gatewayConfig } from '../../gateway/src/config.ts';
import { createBilling } from '../../services/billing/src/billing.ts';
import { billingConfig } from '../../services/billing/src/config.ts';
import { schema as billing } from '../../services/billing/src/schema.ts';
import { integrationsConfig } from '../../services/integrations/src/config.ts';
import { createIntegrations } from '../../services/integrations/src/integrations.ts';
import { schema as integrations } from '../../services/integrations/src/schema.ts';
import { reportingConfig } from '../../services/reporting/src/config.ts';
import { createReporting } from '../../services/reporting/src/reporting.ts';
import { schema as reporting } from '../../services/reporting/src/schema.ts';
import { schedulingConfig } from '../../services/scheduling/src/config.ts';
import { createScheduling } from '../../services/scheduling/src/scheduling.ts';
import { schema as scheduling } from '../../services/scheduling/src/schema.ts';
import { webhookDispatcherConfig } from '../../services/webhook-dispatcher/src/config.ts';

export const CONFIGS = {
  integrations: integrationsConfig,
  scheduling: schedulingConfig,
  billing: billingConfig,
  reporting: reportingConfig,
  'webhook-dispatcher': webhookDispatcherConfig,
  gateway: gatewayConfig,
} satisfies Record<ComponentName, unknown>;

export const CREATE = {
  integrations: createIntegrations,
  scheduling: createScheduling,
  billing: createBilling,
  reporting: createReporting,
} satisfies Record<Owner, unknown>;

const schemas: Record<Owner, DatabaseSchema> = { integrations, scheduling, billing, reporting };

/** Schemas of all owners, in the order of their migration. */
export const SCHEMAS: readonly DatabaseSchema[] = owners.map((owner) => schemas[owner]);
