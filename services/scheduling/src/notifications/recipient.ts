// Recipient and channel of a notification (decisions §5). Pure.
import type { Account } from '@truckroll/contract/gen/scheduling/v1/accounts';
import { ContactChannelType, type Contact } from '@truckroll/contract/gen/scheduling/v1/contacts';
import { sameChannel } from '../contacts/channels.ts';

export type NotificationChannel = 'EMAIL' | 'SMS';

export interface Recipient {
  channel: NotificationChannel;
  /** E-mail address, or telephone number in E.164 form. */
  address: string;
}

const CHANNELS: Partial<Record<ContactChannelType, NotificationChannel>> = {
  [ContactChannelType.EMAIL]: 'EMAIL',
  [ContactChannelType.MOBILE]: 'SMS',
};

/** The channel of an account's contact, or why there is none. Checked when the notification is accepted, and again before delivery. */
export function recipientOf(account: Account | undefined, contact: Contact | undefined): Recipient | { reason: string } {
  if (account === undefined) return { reason: 'the account is not known' };
  if (!account.notifications_enabled) return { reason: 'the account gets no notifications' };
  if (contact === undefined) return { reason: 'there is no contact' };
  if (contact.archived) return { reason: 'the contact is archived' };
  const primary = contact.primary_channel;
  if (primary == null) return { reason: 'the contact has no primary channel' };
  const channel = CHANNELS[primary.type];
  if (channel === undefined) return { reason: 'the contact’s primary channel takes no messages' };
  const optedOut = contact.channels.some((own) => own.opted_out && sameChannel(own, primary));
  return optedOut ? { reason: 'the contact has opted out' } : { channel, address: primary.value };
}
