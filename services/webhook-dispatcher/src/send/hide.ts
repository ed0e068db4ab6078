// Hides the values of an endpoint's headers where its receiver repeats them: the log shows answers to everybody in the company.
const HIDDEN = Buffer.from('(hidden)');
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
  const forms = [...new Set([...values].flatMap(partsOf).filter(isSecret).flatMap(formsOf))];
  // A form that contains another comes first.
  const needles = forms.map((form) => Buffer.from(form)).sort((a, b) => b.length - a.length);
  if (needles.length === 0) return undefined;
  const bytes = (text: Buffer, isCut: boolean): Buffer => {
    let hidden = text;
    for (const needle of needles) hidden = without(hidden, needle);
    return isCut ? withoutEnd(hidden, needles) : hidden;
  };
  return { bytes, text: (text) => bytes(Buffer.from(text, 'latin1'), false).toString('latin1') };
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

/** The forms in which programs print a value: unchanged, in JSON, in URLs, and in Base64. */
function formsOf(part: string): string[] {
  const json = JSON.stringify(part).slice(1, -1);
  const url = encodeURIComponent(part);
  const base64 = Buffer.from(part).toString('base64');
  return [
    part,
    json,
    json.replaceAll('/', '\\/'),
    url,
    url.replaceAll('%20', '+'),
    url.replace(/%../g, (code) => code.toLowerCase()),
    base64.replace(/=+$/, ''),
    Buffer.from(part).toString('base64url'),
  ];
}

function without(text: Buffer, needle: Buffer): Buffer {
  const begin = needle.subarray(0, SEARCHED);
  const parts: Buffer[] = [];
  let from = 0;
  for (let at = text.indexOf(begin); at >= 0; at = text.indexOf(begin, from)) {
    parts.push(text.subarray(from, at), HIDDEN);
    from = at + begin.length;
    for (let next = begin.length; next < needle.length && text[from] === needle[next]; next += 1) from += 1;
  }
  return from === 0 ? text : Buffer.concat([...parts, text.subarray(from)]);
}

/** Hides the beginning of a value at the end of the text. */
function withoutEnd(text: Buffer, needles: readonly Buffer[]): Buffer {
  let most = 0;
  for (const needle of needles) {
    for (let length = Math.min(needle.length - 1, text.length); length >= Math.max(SHORTEST, most + 1); length -= 1) {
      if (text.subarray(text.length - length).equals(needle.subarray(0, length))) most = length;
    }
  }
  return most === 0 ? text : Buffer.concat([text.subarray(0, text.length - most), HIDDEN]);
}
