// The client without async is the asynchronous one with these words replaced.
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\basync_work\b/g, 'do_work'],
  [/\basync_pause\b/g, 'pause'],
  [/_async_(core|client|resources)\b/g, '_$1'],
  [/\basync (def|for|with) /g, '$1 '],
  [/\bawait /g, ''],
  [/\bAsync(?=[A-Z])/g, ''],
  [/\b__a(enter|exit|iter)__\b/g, '__$1__'],
  [/\baclose\b/g, 'close'],
  [/"""The asynchronous client\./g, '"""The client.'],
];

export function withoutAsync(source: string): string {
  const text = WORDS.reduce((rest, [pattern, word]) => rest.replace(pattern, word), source);
  // What this leaves in brackets for no reason.
  return text.replace(/\((client\.request\([^)]*\))\)/g, '$1');
}
