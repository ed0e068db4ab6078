import { methodName } from '../../parts/words.ts';
import type { Group } from './definitions.ts';

/** A group's name: "Repair", or "No job type". */
export function groupName({ key, title }: Group, label: string | null): string {
  if (label === null) return `No ${title.toLowerCase()}`;
  return key === 'payment_method' ? methodName(label) : label;
}
