export { createClient, type Client, type ClientOptions } from './client.ts';
export type { Change, ChangeKind, ChangesOptions, ChangesPage } from './changes.ts';
export type { Comparison } from './digest.ts';
export { ConnectionError, TimeoutError, TruckrollError } from './errors.ts';
export { retryAfterSeconds } from './retry-after.ts';
export type { Resources } from './gen/resources.ts';
export type { Fetch, Retry } from './send.ts';
export { CopyMovedError, type StoredVersion, type SyncOptions, type SyncPage, type SyncProgress, type SyncStore } from './sync.ts';
export type {
  Answer,
  CallOptions,
  ErrorCode,
  ErrorDetail,
  Listing,
  PageOf,
  PagedPath,
  QueryOf,
  RecordOf,
  RequestOf,
  ResultOf,
  WriteOptions,
  components,
  paths,
} from './types.ts';
export { VerificationError, verifyWebhook, type VerifiedWebhook, type WebhookEvent } from './webhooks.ts';
