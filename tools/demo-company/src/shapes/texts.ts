import { eventTypesOf, type Field } from '@truckroll/contract';
import { drawOf, idOf } from '../ground.ts';
import { hash, stream, type Draw } from '../random/keyed.ts';
import { cityOf, phoneIn } from '../words/address.ts';
import { personOf } from '../words/person.ts';
import { SUMMARIES, VISIT_NOTES } from '../words/phrases.ts';
import type { Subject } from './subject.ts';

const PHRASES = [...SUMMARIES, ...VISIT_NOTES];
const FIRST_NUMBER = 10_001;

/** Texts of a field: by its format, else modelled on its example. */
export function textOf(at: string, field: Field): (subject: Subject) => string {
  const of = stream(at);
  const drawn = ({ company, n }: Subject) => drawOf(company, of, n);
  const id = ({ company, n }: Subject) => idOf(company, of, n);
  switch (field.format) {
    case 'phone':
      return (subject) => phoneIn(cityOf(subject.company, subject.job.account), drawn(subject));
    case 'email':
      return (subject) => `${personOf(drawn(subject)).handle}.${subject.n}@example.org`;
    case 'color':
      return ({ company, n }) => `#${(hash(company.seed, of, n) >>> 8).toString(16).toUpperCase().padStart(6, '0')}`;
    case 'currency':
      return () => 'USD';
    case 'time_zone':
      return ({ company }) => company.zone.name;
    case 'url':
      return (subject) => `https://example.com/${id(subject)}`;
    case 'idempotency_key':
      return id;
    case 'revision':
      return (subject) => id(subject).replaceAll('-', '').repeat(2);
    case 'json_pointer':
      return ({ n }) => `/${n}`;
    case 'event_type':
    case 'subscription': {
      const types = eventTypesOf[field.format];
      return ({ company, n }) => types[hash(company.seed, of, n) % types.length]?.type ?? '';
    }
    default:
      return wordsOf(field, drawn);
  }
}

/** An example ending in three or more digits is a number and is counted up. A word with digits is a code and gets random characters. */
function wordsOf(field: Field, drawn: (subject: Subject) => Draw): (subject: Subject) => string {
  const { example = '' } = field;
  const numbered = /^(.*\D|)\d{3,}$/.exec(example);
  if (numbered) return ({ n }) => `${numbered[1]}${FIRST_NUMBER + n}`;
  if (/^\S*\d\S*$/.test(example)) return (subject) => codeLike(example, drawn(subject));
  const { minLength = 0, maxLength } = field.range ?? {};
  const texts = [example, ...PHRASES]
    .filter((text) => text !== '' && (field.format === undefined || !/\p{Cc}/u.test(text)))
    .map((text) => [...text.padEnd(minLength, '.')].slice(0, maxLength).join(''));
  return (subject) => drawn(subject).pick(texts);
}

function codeLike(example: string, draw: Draw): string {
  return example.replace(/\d/g, () => String(draw.below(10))).replace(/[A-Z]/g, () => String.fromCharCode(65 + draw.below(26)));
}
