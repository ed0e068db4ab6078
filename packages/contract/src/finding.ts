// What finds a record (decisions §17): the words, telephone numbers and e-mail addresses of its fields, folded the same way as a query.

/** Longest word, e-mail address and number that are compared, in characters: index entries of PostgreSQL have at most 2,700 bytes. */
const LONGEST_WORD = 40;
const LONGEST_TEXT = 200;
/** Distinct words of one record that can be found, in the order of its searched fields. Bounds what a long description costs. */
const MOST_WORDS = 200;
const FEWEST_PHONE_DIGITS = 7;
/** Digits of the longest country code: a national number lacks at most these of its number in E.164 form. */
const COUNTRY_CODE_DIGITS = 3;
/** Most digits of a number in E.164 form. */
const PHONE_DIGITS = 15;
/** Fewest digits left when a trunk prefix (leading zeros) is taken off. */
const FEWEST_WITHOUT_TRUNK = 6;

/** Begin an entry that is no word. Neither is a letter or a digit. */
const PHONE = '#';
const EMAIL = '@';

/** Matches an entry that begins with `start`, and has at most `more` characters after that if it is given. */
export interface Wanted {
  readonly start: string;
  readonly more?: number;
}

/** A part of a query, met by a record that meets every condition of one of its alternatives. */
export type Term = readonly (readonly Wanted[])[];

export interface Findable {
  readonly texts: readonly (string | null | undefined)[];
  /** In E.164 form. */
  readonly phones?: readonly (string | null | undefined)[];
  readonly emails?: readonly (string | null | undefined)[];
}

/** The distinct entries by which a record is found. */
export function entriesOf({ texts, phones = [], emails = [] }: Findable): string[] {
  const words = new Set<string>();
  for (const text of [...texts, ...phones, ...emails]) {
    for (const { word } of text == null || words.size >= MOST_WORDS ? [] : wordsIn(folded(text))) {
      words.add(word);
      if (words.size >= MOST_WORDS) break;
    }
  }
  for (const phone of phones) if (phone != null && phone !== '') words.add(phoneEntry(digitsOf(phone)));
  for (const email of emails) if (email != null && email !== '') words.add(emailEntry(email));
  return [...words];
}

/** What a record must have to match the text of a search: one term for each word, and one for digits that may be a telephone number. */
export function searchTerms(text: string): Term[] {
  const plain = folded(text).replace(TRUNK_IN_BRACKETS, ' ');
  const terms: Term[] = [];
  let run: { word: string; end: number }[] = [];
  const end = (): void => {
    const words = run.map(({ word }): Wanted => ({ start: word }));
    const digits = run.map(({ word }) => word).join('');
    if (digits.length < FEWEST_PHONE_DIGITS) terms.push(...words.map((word) => [[word]]));
    else terms.push([words, ...spellingsOf(digits).map((each): Wanted[] => [{ start: phoneEntry(each) }])]);
    run = [];
  };
  for (const found of wordsIn(plain)) {
    const { word, at } = found;
    const last = run.at(-1);
    const digits = DIGITS.test(word);
    if (last !== undefined && !(digits && BETWEEN_DIGITS.test(plain.slice(last.end, at)))) end();
    if (digits) run.push({ word, end: at + word.length });
    else terms.push([[{ start: word }]]);
  }
  if (run.length > 0) end();
  return terms;
}

/** Whether a text has anything to search for. */
export function isSearch(text: string): boolean {
  return wordsIn(folded(text)).length > 0;
}

/** Characters of a telephone number in any spelling. Patterns take as much time as the square of its length. */
const LONGEST_SPELLING = 64;

export function isPhoneSpelling(text: string): boolean {
  if (text.length > LONGEST_SPELLING) return false;
  const { digits } = phoneIn(text);
  return PHONE_SPELLING.test(dialled(text)) && digits.length >= FEWEST_PHONE_DIGITS && digits.length <= PHONE_DIGITS + 1;
}

/** The term of one or more telephone numbers in any spelling. A national spelling matches in every country. */
export function phoneTerm(spellings: readonly string[]): Term {
  return spellings.flatMap((spelling) => {
    const { digits, whole } = phoneIn(spelling);
    if (whole) return [[{ start: phoneEntry(digits), more: 0 }]];
    return spellingsOf(digits).map((each) => [{ start: phoneEntry(each), more: COUNTRY_CODE_DIGITS }]);
  });
}

/**
 * Finds texts that name a person: one of the names or addresses as words in this order, or the end of one of the telephone numbers, in any
 * spelling.
 */
export function mentionOf(names: readonly string[]): (text: string) => boolean {
  const phones = names.filter(isPhoneSpelling).map((name) => digitsOf(dialled(name)));
  const inOrder = (text: string): string =>
    ` ${wordsIn(folded(text))
      .map(({ word }) => word)
      .join(' ')} `;
  const wanted = names.filter((name) => !isPhoneSpelling(name) && isSearch(name)).map(inOrder);
  const isPhone = (digits: string): boolean => spellingsOf(digits).some((each) => phones.some((phone) => phone.endsWith(each)));
  return (text) => {
    const words = inOrder(text);
    return wanted.some((each) => words.includes(each)) || (phones.length > 0 && phonesIn(text).some(isPhone));
  };
}

export function emailTerm(emails: readonly string[]): Term {
  return emails.map((email) => [{ start: emailEntry(email), more: 0 }]);
}

/** A record's number as numbers are compared: without regard to letter case. */
export function foldedNumber(number: string): string {
  return cut(number.normalize('NFC').toLowerCase(), LONGEST_TEXT);
}

const ASCII = /^[\0-\x7f]*$/;
const DIGITS = /^[0-9]+$/;
const BETWEEN_DIGITS = /^[\s+\-.()[\]{}\p{Pd}]*$/u;
const DIGIT_RUNS = /[0-9][0-9\s+\-.()[\]{}\p{Pd}]*/gu;
const PHONE_SPELLING = /^\s*(?:\+\s*)?[0-9\s\-.()[\]{}/\p{Pd}]*$/u;
/** The scheme of a link, and an extension, which no record has: `tel:+15125550100;ext=12`, `512-555-0100 x12`. */
const NOT_DIALLED = /^\s*tel:|[\s,;]*(?:x|ext(?:ension)?)[\s.=:]*[0-9]{1,6}\s*$/gi;
/** As in +44 (0)20 7946 0958: not dialled together with the country's code. */
const TRUNK_IN_BRACKETS = /\(0\)(?=\s*\d)/;
const ASCII_RUNS = /[a-z0-9]+/g;
/** Runs of letters and digits. Chinese, Japanese and Korean text has no spaces between words, so its runs are apart from others. */
const CJK = String.raw`[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}]`;
const RUNS = new RegExp(String.raw`(?<cjk>(?:(?=${CJK})\p{L})+)|(?:(?!${CJK})[\p{L}\p{N}]|(?=${CJK})\p{N})+`, 'gu');

/** Digits that may be a telephone number: runs, and groups of them, because another number may be next to it. */
function phonesIn(text: string): string[] {
  const runs = plainText(text).replace(TRUNK_IN_BRACKETS, ' ').match(DIGIT_RUNS) ?? [];
  const found = runs.flatMap((run) => {
    const groups = run.match(/[0-9]+/g) ?? [];
    const joined = groups.flatMap((_, first) => {
      const next = groups.slice(first, first + PHONE_DIGITS);
      return next.map((__, last) => next.slice(0, last + 1).join('')).filter((digits) => digits.length <= PHONE_DIGITS);
    });
    return [groups.join(''), ...joined];
  });
  return found.filter((digits) => digits.length >= FEWEST_PHONE_DIGITS);
}

function wordsIn(plain: string): { word: string; at: number }[] {
  const words: { word: string; at: number }[] = [];
  for (const { 0: run, index, groups } of plain.matchAll(ASCII.test(plain) ? ASCII_RUNS : RUNS)) {
    if (groups?.['cjk'] === undefined) words.push({ word: cut(run, LONGEST_WORD), at: index });
    else {
      const characters = [...run];
      const pairs = characters.slice(1).map((character, i) => `${characters[i]}${character}`);
      words.push(...(pairs.length === 0 ? [run] : pairs).map((word) => ({ word, at: index })));
    }
  }
  return words;
}

/** Without case, marks, width and characters that only format. */
function folded(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const bare = plainText(text)
    .replace(/\p{M}/gu, '')
    // Apostrophes that Unicode counts as letters.
    .replace(/[\u02bb\u02bc]/g, "'");
  // By way of upper case, which has one spelling of ß and ı.
  return bare.toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}

function plainText(text: string): string {
  return text.normalize('NFKD').replace(/\p{Cf}/gu, '');
}

/** A telephone number without its link and extension. */
function dialled(text: string): string {
  return plainText(text).replace(NOT_DIALLED, '');
}

function digitsOf(text: string): string {
  return plainText(text).replace(/[^0-9]/g, '');
}

/** The digits of a telephone number, and whether they begin with the country's code. */
function phoneIn(text: string): { digits: string; whole: boolean } {
  const plain = dialled(text).replace(TRUNK_IN_BRACKETS, '').trim();
  const digits = plain.replace(/[^0-9]/g, '');
  if (plain.startsWith('+')) return { digits, whole: true };
  return digits.startsWith('00') ? { digits: digits.slice(2), whole: true } : { digits, whole: false };
}

/** The digits as given and, since a country's own spelling may begin with a zero that E.164 leaves out, without leading zeros. */
function spellingsOf(digits: string): string[] {
  const bare = digits.replace(/^0+/, '');
  return bare.length === digits.length || bare.length < FEWEST_WITHOUT_TRUNK ? [digits] : [digits, bare];
}

/** Reversed: numbers that end in the same digits begin alike. */
function phoneEntry(digits: string): string {
  return PHONE + [...digits].reverse().join('');
}

function emailEntry(email: string): string {
  return EMAIL + cut(email.normalize('NFC').toLowerCase(), LONGEST_TEXT);
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : [...text].slice(0, most).join('');
}
