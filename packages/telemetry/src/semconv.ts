import type * as incubating from '@opentelemetry/semantic-conventions/incubating';

export {
  ATTR_DB_QUERY_SUMMARY,
  ATTR_DB_SYSTEM_NAME,
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  ATTR_RPC_METHOD,
  ATTR_RPC_SYSTEM_NAME,
  ATTR_URL_PATH,
  DB_SYSTEM_NAME_VALUE_POSTGRESQL,
  RPC_SYSTEM_NAME_VALUE_GRPC,
} from '@opentelemetry/semantic-conventions';

// Names that are not stable yet. Their module is over 1 MB, so only its types are used: they make a wrong value a compile error.
export const ATTR_MESSAGING_BATCH_MESSAGE_COUNT: typeof incubating.ATTR_MESSAGING_BATCH_MESSAGE_COUNT = 'messaging.batch.message_count';
export const ATTR_MESSAGING_DESTINATION_NAME: typeof incubating.ATTR_MESSAGING_DESTINATION_NAME = 'messaging.destination.name';
export const ATTR_MESSAGING_SYSTEM: typeof incubating.ATTR_MESSAGING_SYSTEM = 'messaging.system';
export const MESSAGING_SYSTEM_VALUE_KAFKA: typeof incubating.MESSAGING_SYSTEM_VALUE_KAFKA = 'kafka';
