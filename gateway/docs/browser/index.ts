// What the search finds: entries of search.json by words, parts of words, similar words and synonyms.
import MiniSearch from 'minisearch';

export interface Entry {
  /** Path from the root, such as `docs/sync#overlap`. */
  id: string;
  title: string;
  page: string;
  text: string;
}

export interface Index {
  /** The best entries for what a reader typed, best first. */
  find(asked: string): Entry[];
}

const MOST_RESULTS = 12;

/** Words of other APIs, and the words that these pages use instead. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  unpaid: ['open balance', 'receivables'],
  hmac: ['signature'],
  sdk: ['client'],
  incremental: ['sync', 'updated_since'],
  oauth: ['openid', 'sign in'],
};

// Parts of names are words too: updated_since, listInvoices.
const wordsOf = (text: string): string[] => text.split(/[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/u).filter((word) => word !== '');

export function indexOf(entries: readonly Entry[]): Index {
  const index = new MiniSearch<Entry>({
    fields: ['title', 'page', 'text'],
    storeFields: ['id', 'title', 'page'],
    tokenize: wordsOf,
    searchOptions: { prefix: true, fuzzy: (word) => (word.length > 4 ? 0.2 : false), combineWith: 'AND', boost: { title: 4, page: 2 } },
  });
  index.addAll(entries);
  const oneOf = (word: string) => {
    const phrases = [word, ...(SYNONYMS[word.toLowerCase()] ?? [])];
    return { combineWith: 'OR' as const, queries: phrases.map((phrase) => ({ combineWith: 'AND' as const, queries: [phrase] })) };
  };
  return {
    find: (asked) => index.search({ combineWith: 'AND', queries: wordsOf(asked).map(oneOf) }).slice(0, MOST_RESULTS) as unknown as Entry[],
  };
}
