// What is stored and published in the end: the other half of the truth.

export interface StoredVisit {
  readonly id: string;
  readonly revision: string;
  /** Events about it so far. */
  readonly sequence: number;
  /** Those that the visit itself shows: technicians by assignment id. */
  readonly assignments: ReadonlyMap<string, string>;
}

export interface StoredAssignment {
  readonly id: string;
  readonly visitId: string;
  readonly technicianId: string;
  /** Hexadecimal. */
  readonly document: string;
}

/** A row of idempotency_keys. */
export interface StoredKey {
  readonly key: string;
  /** Null in a row without an answer, which no transaction may leave. */
  readonly status: number | null;
  readonly location: string | null;
  readonly visitId: string | undefined;
  readonly revision: string | undefined;
}

export interface StoredRequest {
  readonly id: string;
  readonly visitId: string | undefined;
  readonly status: string;
  readonly sequence: number;
}

export interface StoredNotification {
  readonly id: string;
  readonly visitId: string;
  /** Of the visit, after the write that asked for it. */
  readonly revision: string;
  readonly status: string;
}

/** A message as it lies in a topic. */
export interface PublishedEvent {
  readonly id: string;
  readonly type: string;
  readonly key: string;
  readonly sequence: number | undefined;
  readonly version: number;
  readonly partition: number;
  /** Of the payload, in hexadecimal; null deletes the key. */
  readonly payload: string | null;
}

export interface VisitEvent extends PublishedEvent {
  readonly visitId: string;
  readonly added: boolean;
  readonly assignmentId: string;
  readonly technicianId: string;
  readonly revision: string;
}

/** Of a service request, or of an interaction, which has no status. */
export interface RequestEvent extends PublishedEvent {
  readonly subject: string;
  readonly status: string | undefined;
  readonly previous: string | undefined;
}

export interface Observed {
  /** Before the first write. */
  readonly before: readonly StoredVisit[];
  readonly visits: readonly StoredVisit[];
  readonly assignments: readonly StoredAssignment[];
  readonly keys: readonly StoredKey[];
  readonly requests: readonly StoredRequest[];
  readonly notifications: readonly StoredNotification[];
  /** In the order of each partition. */
  readonly visitEvents: readonly VisitEvent[];
  readonly assignmentEvents: readonly PublishedEvent[];
  readonly requestEvents: readonly RequestEvent[];
  /** Messages that are no events. */
  readonly unreadable: number;
  /** Events that scheduling has not published. */
  readonly unpublished: number;
  /** Read models that reporting holds wrongly. */
  readonly wrongReadModels: readonly string[];
}
