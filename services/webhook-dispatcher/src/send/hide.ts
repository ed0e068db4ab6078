// Hides the values of an endpoint's headers where its receiver repeats them: the log shows answers to everybody in the company.
const HIDDEN = '(hidden)';
/** Values, or parts of them, that are shorter are not secrets, and hiding them would make answers unreadable. */
const SHORTEST = 4;
/** Bytes of a value that are searched for, so that the time does not grow with the value; what follows of it is hidden too. */
const SEARCHED = 32;

export interface Hide {
  /** `isCut`: whether more followed, so that a value may have been cut. */
  bytes(text: Buffer, isCut: boolean): Buffer;
  /** For Latin-1 text, which header values are. */
  text(text: string): string;
}

/** Undefined without values to hide. */
export function hiding(values: Iterable<string>): Hide | undefined {
  const needles = [...new Set([...values].flatMap(partsOf).filter(isSecret).flatMap(formsOf).filter(isSecret).map(lowerCase))];
  if (needles.length === 0) return undefined;
  const text = (shown: string, isCut: boolean): string => hidden(shown, needles, isCut);
  return {
    bytes: (bytes, isCut) => Buffer.from(text(bytes.toString('latin1'), isCut), 'latin1'),
    text: (shown) => text(shown, false),
  };
}

/** The value, and what follows a scheme such as Bearer in it; of Basic also its user and password. */
function partsOf(value: string): string[] {
  const [, scheme = '', credentials] = /^([A-Za-z]+) +(.+)$/.exec(value) ?? [];
  if (credentials === undefined) return [value];
  if (scheme.toLowerCase() !== 'basic') return [value, credentials];
  const pair = Buffer.from(credentials, 'base64').toString();
  return [value, credentials, pair, pair.slice(pair.indexOf(':') + 1)];
}

function isSecret(part: string): boolean {
  return part.length >= SHORTEST;
}

/** The forms in which programs print a value: unchanged, in JSON, in URLs, in hexadecimal digits and in Base64. Letter case is ignored. */
function formsOf(part: string): string[] {
  const json = JSON.stringify(part).slice(1, -1);
  const url = encodeURIComponent(part);
  const bytes = Buffer.from(part);
  const base64 = [0, 1, 2].map((before) => withinBase64(bytes, before));
  return [
    part,
    json,
    json.replaceAll('/', '\\/'),
    url,
    url.replaceAll('%20', '+'),
    bytes.toString('hex'),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    ...base64,
    ...base64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_')),
  ];
}

/** The characters that a value alone decides in the Base64 of a longer text, such as `user:value`. `before`: the bytes before it, modulo 3. */
function withinBase64(value: Buffer, before: number): string {
  const text = Buffer.concat([Buffer.alloc(before), value]);
  return text.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((text.length * 8) / 6));
}

/** UTF-8 as Latin-1, so that every form has the length of its bytes. */
function lowerCase(form: string): string {
  return Buffer.from(form).toString('latin1').toLowerCase();
}

function hidden(shown: string, needles: readonly string[], isCut: boolean): string {
  const text = shown.toLowerCase();
  const found = needles.flatMap((needle) => placesOf(needle, text));
  if (isCut) found.push(...beginningAtEnd(text, needles));
  if (found.length === 0) return shown;
  const parts: string[] = [];
  let from = 0;
  for (const [begin, end] of found.sort(([a], [b]) => a - b)) {
    if (begin >= from) parts.push(shown.slice(from, begin), HIDDEN);
    from = Math.max(from, end);
  }
  return parts.join('') + shown.slice(from);
}

type Range = [begin: number, end: number];

function placesOf(needle: string, text: string): Range[] {
  const begin = needle.slice(0, SEARCHED);
  const ranges: Range[] = [];
  for (let at = text.indexOf(begin); at >= 0; ) {
    let end = at + begin.length;
    for (let next = begin.length; next < needle.length && text[end] === needle[next]; next += 1) end += 1;
    ranges.push([at, end]);
    at = text.indexOf(begin, end);
  }
  return ranges;
}

/** The longest beginning of a form at the end of the text. */
function beginningAtEnd(text: string, needles: readonly string[]): Range[] {
  let most = 0;
  const last = text.at(-1);
  for (const needle of needles) {
    for (let length = Math.min(needle.length - 1, text.length); length >= Math.max(SHORTEST, most + 1); length -= 1) {
      if (needle[length - 1] === last && text.endsWith(needle.slice(0, length))) most = length;
    }
  }
  return most === 0 ? [] : [[text.length - most, text.length]];
}
