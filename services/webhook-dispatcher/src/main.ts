import { runService } from '@truckroll/process';
import { webhookDispatcherConfig } from './config.ts';
import { createWebhookDispatcher } from './webhook-dispatcher.ts';

await runService('webhook-dispatcher', () => createWebhookDispatcher(webhookDispatcherConfig(process.env)));
