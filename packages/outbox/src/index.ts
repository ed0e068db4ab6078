export { EventTooLarge, append, appending, appendingMade, appendingRows, madeColumns, type MadeColumns } from './append.ts';
export { NO_COMPANY, auditEntry, auditEvent, type AuditedChange, type AuditedService } from './audit.ts';
export { Consumer } from './consumer.ts';
export { beginEpoch, currentEpoch, epochOf } from './epoch.ts';
export type { IncomingEvent, OutgoingEvent } from './event.ts';
export { notOlder } from './inbox.ts';
export { createKafka, kafkaSettings, type KafkaClient } from './kafka.ts';
export { operatorCalls, publishOperatorCalls } from './operator-calls.ts';
export { Outbox } from './outbox.ts';
export { deadLetterOf, deadLettersAfter, deleteDeadLetters, forgetDeadLetters, listDeadLetters, storeDeadLetter } from './dead-letters.ts';
export { deadLetterHandlers, retryDeadLetters } from './dead-letter-service.ts';
export {
  endsOf,
  groupsAtWork,
  moveGroup,
  overallOf,
  rewindGroup,
  takeWaiting,
  type ReadModelKeys,
  type Ends,
  type Placed,
  type Restored,
  type PublishedState,
} from './restored.ts';
export { relayLock } from './relay.ts';
export { replay } from './replay.ts';
export { Subscriber, type Subscription } from './subscription.ts';
export { outboxTables } from './tables.ts';
export { ensureTopics, type Topic } from './topics.ts';
