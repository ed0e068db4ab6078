import type { Address } from '@truckroll/contract/gen/scheduling/v1/address';

/** The parts of an address that a search finds. */
export function addressTexts(address: Address | null | undefined): (string | null | undefined)[] {
  if (address == null) return [];
  const { formatted, line_1, line_2, city, state, postal_code } = address;
  return [formatted, line_1, line_2, city, state, postal_code];
}
