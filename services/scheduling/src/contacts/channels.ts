// Channels of contacts (decisions §12).
import { formatProblem, type JsonProblem } from '@truckroll/contract';
import { ContactChannelType, type Contact, type ContactChannel } from '@truckroll/contract/gen/scheduling/v1/contacts';

type Way = Pick<ContactChannel, 'type' | 'value'>;

/** Whether two channels are the same, ignoring letter case. */
export function sameChannel(a: Way, b: Way): boolean {
  return a.type === b.type && a.value.toLowerCase() === b.value.toLowerCase();
}

/** Channels must match their type, and the primary channel must be one of them. */
export function checkContact({ channels, primary_channel: primary }: Pick<Contact, 'channels' | 'primary_channel'>): JsonProblem[] {
  const problems = channels.flatMap(({ type, value }, i): JsonProblem[] => {
    const message = formatProblem(type === ContactChannelType.EMAIL ? 'email' : 'phone', value);
    return message === undefined ? [] : [{ field: `channels[${i}].value`, code: 'INVALID_FORMAT', message }];
  });
  if (primary != null && !channels.some((channel) => sameChannel(channel, primary))) {
    problems.push({ field: 'primary_channel', code: 'INVALID_FORMAT', message: 'Give one of channels, with its type and value, or null.' });
  }
  return problems;
}
