/** A token's claims, unverified, for display and for better messages only: the gateway verifies. */
export function claimsOf(token: string): Readonly<Record<string, unknown>> {
  try {
    const part = token.split('.')[1] as string;
    const bytes = Uint8Array.from(atob(part.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

export function endOf(token: string): Date | undefined {
  const { exp } = claimsOf(token);
  return typeof exp === 'number' ? new Date(exp * 1000) : undefined;
}
