/** Longest text in characters that the API searches for. */
export const MOST_SEARCHED = 100;

/** The text as the API's filter `search`; undefined if it is too short to search for. */
export function searchable(text: string): string | undefined {
  const trimmed = text.trim().slice(0, MOST_SEARCHED);
  return [...trimmed.matchAll(/[\p{L}\p{N}]/gu)].length < 2 ? undefined : trimmed;
}
