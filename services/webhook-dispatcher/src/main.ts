import { runService } from '@truckroll/service-kit';
import { webhookDispatcherConfig } from './config.ts';
import { createWebhookDispatcher } from './webhook-dispatcher.ts';

await runService('webhook-dispatcher', () => createWebhookDispatcher(webhookDispatcherConfig(process.env)));
