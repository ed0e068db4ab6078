export interface OutgoingMessage {
  /** The notification's id: the same when the message is sent again. */
  readonly id: string;
  readonly address: string;
  readonly subject: string;
  readonly text: string;
}

/**
 * Result of an attempt. SENT: the provider accepted the message. FAILED: it rejected the message. UNKNOWN: it may have accepted it.
 * UNTAKEN: it did not accept it but may later, because it was unreachable or asked to retry.
 */
export type MailOutcome = 'SENT' | 'FAILED' | 'UNKNOWN' | 'UNTAKEN';

export interface Attempt {
  readonly outcome: MailOutcome;
  readonly detail: string;
}

export interface Provider {
  /** Tries once. A rejected promise counts as UNKNOWN. */
  send(message: OutgoingMessage): Promise<Attempt>;
}
