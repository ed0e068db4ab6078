export interface StoredVisit {
  readonly id: string;
  readonly revision: string;
  readonly sequence: number;
  readonly assignments: ReadonlyMap<string, string>;
}

export interface StoredAssignment {
  readonly id: string;
  readonly visitId: string;
  readonly technicianId: string;
  readonly document: string;
}

export interface StoredKey {
  readonly key: string;
  /** Null in a row without an answer, which no committed transaction may leave. */
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
  readonly revision: string;
  readonly status: string;
}

export interface PublishedEvent {
  readonly id: string;
  readonly type: string;
  readonly key: string;
  readonly sequence: number | undefined;
  readonly version: number;
  readonly partition: number;
  /** The payload in hexadecimal; null deletes the key. */
  readonly payload: string | null;
}

export interface VisitEvent extends PublishedEvent {
  readonly visitId: string;
  readonly added: boolean;
  readonly assignmentId: string;
  readonly technicianId: string;
  readonly revision: string;
}

/** An event of a service request, or of an interaction, which has no status. */
export interface RequestEvent extends PublishedEvent {
  readonly subject: string;
  readonly status: string | undefined;
  readonly previous: string | undefined;
}

export interface Observed {
  readonly before: readonly StoredVisit[];
  readonly visits: readonly StoredVisit[];
  readonly assignments: readonly StoredAssignment[];
  readonly keys: readonly StoredKey[];
  readonly requests: readonly StoredRequest[];
  readonly notifications: readonly StoredNotification[];
  readonly visitEvents: readonly VisitEvent[];
  readonly assignmentEvents: readonly PublishedEvent[];
  readonly requestEvents: readonly RequestEvent[];
  readonly unreadable: number;
  readonly unpublished: number;
  readonly wrongReadModels: readonly string[];
}
