/** A message to one person. */
export interface OutgoingMessage {
  /** Of the notification: the same for the same message, different for any other. */
  readonly id: string;
  readonly address: string;
  readonly subject: string;
  readonly text: string;
}

/**
 * How an attempt ended. SENT: the provider took the message. FAILED: it refused it. UNKNOWN: it may have taken it.
 * UNTAKEN: it has certainly not taken it and may yet do so, as it could not be reached or asked to be left alone.
 */
export type Outcome = 'SENT' | 'FAILED' | 'UNKNOWN' | 'UNTAKEN';

export interface Attempt {
  readonly outcome: Outcome;
  /** What the provider said, for the operator. */
  readonly detail: string;
}

export interface Provider {
  /** Tries once. A rejection counts as UNKNOWN. */
  send(message: OutgoingMessage): Promise<Attempt>;
}
