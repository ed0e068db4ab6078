export { createClient, type Client, type ClientOptions } from './client.ts';
export { ConnectionError, TimeoutError, TruckrollError } from './errors.ts';
export type { Fetch, Retry } from './send.ts';
export type { Answer, CallOptions, ErrorCode, ErrorDetail, PageOf, PagedPath, RecordOf, components, paths } from './types.ts';
export { VerificationError, verifyWebhook, type WebhookEvent } from './webhooks.ts';
