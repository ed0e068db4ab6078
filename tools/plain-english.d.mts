export function textsOf(path: string, line: string): Generator<string>;
export function phrasesIn(text: string): string[];
export function wordsIn(line: string): { word: string; instead: string }[];
