import { splitQuery } from './query-text.ts';

/** The Link header (RFC 8288) of the next page: the same request with another cursor. An empty `url` makes it relative to the request. */
export function nextLink(url: string, query: string, cursor: string): string {
  const parameters = new URLSearchParams();
  for (const { name, value } of splitQuery(query)) if (name !== 'cursor') parameters.append(name, value ?? '');
  parameters.append('cursor', cursor);
  return `<${url}?${parameters.toString()}>; rel="next"`;
}
