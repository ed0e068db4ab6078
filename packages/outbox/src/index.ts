export { KeptAdmin, withAdmin } from './admin.ts';
export { EventTooLarge, append, appending, appendingRows, appendingText, appendingValues, madeColumns, type MadeColumns } from './append.ts';
export { NO_COMPANY, auditEntry, auditEvent, type AuditedChange, type AuditedService } from './audit.ts';
export { Consumer } from './consumer.ts';
export { beginningsOf, endsOf, hasPassed, moveGroup, overallOf, type AppliedTo, type Offsets } from './ends.ts';
export { beginEpoch, currentEpoch, epochOf } from './epoch.ts';
export {
  COMPANY_DELETED,
  OF_DELETION,
  acceptMoved,
  companyHash,
  erasedOf,
  isDeleted,
  isErased,
  markErased,
  refuseErased,
  refuseMoved,
  wasErased,
  withoutErased,
} from './erased.ts';
export {
  ERASABLE,
  ERASED_FIRST_NAME,
  ERASED_LAST_NAME,
  ERASED_PERSON,
  PERSON_ERASED,
  erasePeopleAgain,
  erasedPeopleAmong,
  idsIn,
  markPersonErased,
  personKey,
  type AskedErasure,
  type ErasedPerson,
} from './erased-people.ts';
export type { IncomingEvent, OutboxRow, OutgoingEvent } from './event.ts';
export { notOlder } from './inbox.ts';
export { checkKafka, createKafka, kafkaSettings, type KafkaClient } from './kafka.ts';
export { operatorCalls, publishOperatorCalls } from './operator-calls.ts';
export { Outbox } from './outbox.ts';
export { deadLetterOf, deadLettersAfter, deleteDeadLetters, forgetDeadLetters, listDeadLetters, renewDeadLetters, storeDeadLetter } from './dead-letters.ts';
export { deadLetterHandlers, retryDeadLetters } from './dead-letter-service.ts';
export type { Keyed, PublishedState, Restored } from './restored.ts';
export { relayLock } from './relay.ts';
export { replay } from './replay.ts';
export { Subscriber, type Subscription } from './subscription.ts';
export { outboxTables } from './tables.ts';
export { ensureTopics, type Topic } from './topics.ts';
