import { changeKinds } from './changes.ts';
import type { DetailCode } from './errors.ts';
import { eventTypesOf } from './events.ts';
import { isPhoneSpelling, isSearch } from './finding.ts';
import type { EnumShape, Field } from './shape.ts';
import { BEYOND, beyondInstants, dateProblem, formatInstant, isDate, isTimeZone, parseInstant } from './time.ts';
import { isUuid } from './uuid.ts';

/** A checked value as generated messages hold it, or its problem. */
export type Checked = { value: unknown } | { code: DetailCode; message: string };

const bad = (code: DetailCode, message: string): Checked => ({ code, message });

/** Checks a value from JSON. The caller handles repeated fields and null. */
export function checkValue(field: Field, value: unknown): Checked {
  switch (field.kind) {
    case 'uuid':
      return typeof value === 'string' && isUuid(value)
        ? { value: value.toLowerCase() }
        : bad('INVALID_UUID', 'Give a UUID such as 0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e.');
    case 'string':
      return typeof value === 'string' ? checkString(field, value) : bad('INVALID_FORMAT', 'Give a string.');
    case 'date':
    case 'local_date':
      if (typeof value === 'string' && isDate(value)) return { value };
      return bad('INVALID_FORMAT', `${whyNoDate(value)}Give a calendar date as YYYY-MM-DD.`);
    case 'timestamp':
      return checkTimestamp(value);
    case 'cents':
    case 'integer':
      return checkInteger(field, value);
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? checkRange(field, value) : bad('INVALID_FORMAT', 'Give a number.');
    case 'boolean':
      return typeof value === 'boolean' ? { value } : bad('INVALID_FORMAT', 'Give true or false.');
    case 'enum':
      return checkEnum(field.enum as EnumShape, value);
    case 'json':
      return checkJson(field, value);
    case 'reference':
    case 'object':
    case 'list':
    case 'bytes':
    case 'cursor':
      throw new Error(`${field.name} is not a scalar`);
  }
}

/** Checks a value from a query string. A date-time outside the supported range becomes the bound on its side. */
export function checkText(field: Field, text: string): Checked {
  if (text === '') return bad('EMPTY_VALUE', 'Leave the parameter out instead of sending it empty.');
  switch (field.kind) {
    case 'boolean':
      return text === 'true' || text === 'false' ? { value: text === 'true' } : bad('INVALID_FORMAT', 'Give true or false.');
    case 'integer':
    case 'cents':
      return /^-?\d{1,16}$/.test(text) ? checkInteger(field, Number(text)) : bad('INVALID_FORMAT', 'Give an integer.');
    case 'number':
      return /^-?\d+(\.\d+)?$/.test(text) ? checkRange(field, Number(text)) : bad('INVALID_FORMAT', 'Give a number.');
    case 'timestamp': {
      const side = beyondInstants(text);
      if (side !== undefined) return { value: BEYOND[side] };
      const checked = checkTimestamp(text);
      const lostPlus = 'code' in checked && / \d{2}:?\d{2}$/.test(text);
      return lostPlus ? bad('INVALID_FORMAT', 'The + of the offset arrived as a space: percent-encode it as %2B.') : checked;
    }
    default:
      return checkValue(field, text);
  }
}

const [FIRST, LAST] = [formatInstant(BEYOND.before), formatInstant(BEYOND.after)];

function checkTimestamp(value: unknown): Checked {
  const micros = typeof value === 'string' ? parseInstant(value) : undefined;
  if (micros !== undefined) return { value: micros };
  if (typeof value === 'string' && beyondInstants(value) !== undefined) return bad('OUT_OF_RANGE', `Give a date-time after ${FIRST} and before ${LAST}.`);
  const form = '2026-03-01T15:04:05Z: seconds, at most six fractional digits, and Z or an offset such as -06:00';
  return bad('INVALID_FORMAT', `${whyNoDate(value)}Give a date-time such as ${form}.`);
}

function whyNoDate(value: unknown): string {
  const problem = typeof value === 'string' ? dateProblem(value) : undefined;
  return problem === undefined ? '' : `${problem} `;
}

function checkJson({ range }: Field, value: unknown): Checked {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return bad('INVALID_FORMAT', 'Give a JSON object.');
  const text = JSON.stringify(value);
  const most = range?.maxLength ?? Infinity;
  const bytes = Buffer.byteLength(text);
  return bytes <= most ? { value: text } : bad('TOO_LARGE', `Shorten it to ${most} bytes of UTF-8: it has ${bytes}.`);
}

function checkInteger(field: Field, value: unknown): Checked {
  if (typeof value !== 'number' || !Number.isInteger(value)) return bad('INVALID_FORMAT', 'Give an integer.');
  if (!Number.isSafeInteger(value)) return bad('OUT_OF_RANGE', 'Give an integer within ±9007199254740991.');
  const narrow = field.kind === 'integer' && Math.abs(value) > 0x7fffffff;
  return narrow ? bad('OUT_OF_RANGE', 'Give an integer within ±2147483647.') : checkRange(field, value);
}

function checkRange(field: Field, value: number): Checked {
  const { min, max, above } = field.range ?? {};
  if (min !== undefined && max !== undefined && (value < min || value > max)) {
    return bad('OUT_OF_RANGE', `Give a number from ${min} to ${max}.`);
  }
  if (min !== undefined && value < min) return bad('OUT_OF_RANGE', `Give at least ${min}.`);
  if (max !== undefined && value > max) return bad('OUT_OF_RANGE', `Give at most ${max}.`);
  if (above !== undefined && value <= above) return bad('OUT_OF_RANGE', `Give more than ${above}.`);
  return { value };
}

const FORMATS = {
  time_zone: [{ test: isTimeZone }, 'Give an IANA time zone such as America/Chicago.'],
  url: [{ test: (text: string) => URL.canParse(text) }, 'Give an absolute URL, with a port of at most 65535 if it has one.'],
  phone: [/^\+[1-9]\d{1,14}$/, 'Give a telephone number in E.164 form, such as +15125550100.'],
  // Exactly one address: mail servers treat separators, quotes and comments specially.
  email: [/^[^\s@,;:<>()"\\\p{Cc}\p{Cf}]+@[^\s@,;:<>()"\\\p{Cc}\p{Cf}]+$/u, 'Give one e-mail address, without a name and control characters.'],
  color: [/^#[0-9A-Fa-f]{6}$/, 'Give a colour as #RRGGBB.'],
  currency: [/^USD$/, 'Give USD, the only currency.'],
  idempotency_key: [/^[A-Za-z0-9_-]+$/, 'Use letters, digits, underscores and hyphens only.'],
  // C0 and C1 controls, line and paragraph separators, and bidirectional embeddings, overrides and isolates.
  one_line: [/^[^\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]*$/, 'Remove line breaks and other control characters: it is one line of text.'],
  json_pointer: [/^(?:\/(?:[^~/]|~[01])*)*$/, 'Give a JSON pointer (RFC 6901) such as /sections/0/questions/3, with ~ as ~0 and / in a name as ~1.'],
  search: [{ test: isSearch }, 'Give at least one letter or digit.'],
  any_phone: [{ test: isPhoneSpelling }, 'Give a telephone number of 7 to 15 digits in any spelling, such as (512) 555-0100 or +15125550100.'],
  revision: [/^[0-9a-f]{64}$/, 'Give the 64 lowercase hexadecimal characters of a revision, as a read returned it.'],
} as const;

/** A character that shows something by itself: no space (the Braille blank included), mark, control, or one that is ignored by default. */
const VISIBLE = /[^\p{Z}\p{M}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** The problem of a text that should have the format; undefined if it is fine. */
export function formatProblem(format: keyof typeof FORMATS, text: string): string | undefined {
  const [pattern, message] = FORMATS[format];
  return pattern.test(text) ? undefined : message;
}

const characters = (count: number): string => (count === 1 ? 'one character' : `${count} characters`);

function checkString(field: Field, value: string): Checked {
  const { minLength, maxLength } = field.range ?? {};
  // PostgreSQL, and therefore every export, cannot store NUL; UTF-8 cannot encode unpaired surrogates.
  if (value.includes('\0') || !value.isWellFormed()) {
    return bad('INVALID_FORMAT', 'Remove the NUL characters and unpaired surrogates.');
  }
  const length = minLength === undefined && maxLength === undefined ? 0 : [...value].length;
  if (minLength !== undefined && length < minLength) return bad('OUT_OF_RANGE', `Give at least ${characters(minLength)}.`);
  if (maxLength !== undefined && length > maxLength) return bad('OUT_OF_RANGE', `Give at most ${characters(maxLength)}.`);
  if (field.format === 'event_type' || field.format === 'subscription') {
    const types = eventTypesOf[field.format].map(({ type }) => type);
    return types.includes(value) ? { value } : bad('INVALID_ENUM_VALUE', `Give one of ${types.join(', ')}.`);
  }
  if (field.format === 'change_kind') {
    const kinds = changeKinds.map(({ kind }) => kind);
    return kinds.includes(value) ? { value } : bad('INVALID_ENUM_VALUE', `Give one of ${kinds.join(', ')}.`);
  }
  const problem = field.format && formatProblem(field.format, value);
  if (problem !== undefined) return bad('INVALID_FORMAT', problem);
  if (field.format === 'one_line' && value !== '' && !VISIBLE.test(value))
    return bad('INVALID_FORMAT', 'Give a text with letters or digits: nothing visible is in it.');
  return { value };
}

function checkEnum(shape: EnumShape, value: unknown): Checked {
  const generated = typeof value === 'string' ? shape.generated.get(value) : undefined;
  if (generated !== undefined) return { value: generated };
  return bad('INVALID_ENUM_VALUE', `Give one of ${[...shape.generated.keys()].join(', ')}.`);
}
