/** Longest text in characters that the API searches for. */
export const MOST_SEARCHED = 100;

/** What a link that was copied begins with. */
const LINK = /^\s*(?:tel|mailto):/i;
/** An extension after a telephone number, which no record has apart from it. */
const EXTENSION = /(\d[\d\s+\-.()]{5,}\d)[\s,;]*(?:x|ext(?:ension)?)[\s.=:]*\d{1,6}\s*$/i;

/** The text as the API's filter `search`; undefined if it is too short to search for. */
export function searchable(text: string): string | undefined {
  const trimmed = text.replace(LINK, '').replace(EXTENSION, '$1').trim().slice(0, MOST_SEARCHED);
  return [...trimmed.matchAll(/[\p{L}\p{N}]/gu)].length < 2 ? undefined : trimmed;
}
