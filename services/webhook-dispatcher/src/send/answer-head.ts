// Reads the heads of an answer before undici does: undici refuses heads that HTTP lets a recipient repair, and does not say what is wrong
// with the others.
import { AttemptError } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { ExchangeFailure } from './failure.ts';

/** Maximum size of one head, status line included. */
export const MOST_HEAD_BYTES = 64 * 1024;
const MOST_INTERIM = 5;
/** Characters of a malformed name that a message shows. */
const SHOWN = 64;

const BEGINNING = 'HTTP/';
const END = /\n\r?\n/;
const STATUS_LINE = /^HTTP\/(\d)(?:\.(\d))? ([1-9]\d\d)(?: |$)/;
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/g;

type Field = [name: string, value: string];

export class AnswerHead {
  /** Received parts of the current head as Latin-1 text. */
  #parts: string[] = [];
  #length = 0;
  /** The last characters of the parts, in which the end may have begun. */
  #tail = '';
  #interim = 0;
  #ended = false;
  /** Whether anything was received. */
  begun = false;

  /** What undici reads of the received bytes; undefined while the head is incomplete. Leaves out 1xx answers. Throws ExchangeFailure. */
  pass(chunk: Buffer): Buffer | undefined {
    if (this.#ended) return chunk;
    this.begun = true;
    let text = chunk.toString('latin1');
    // Empty lines before the status line.
    if (this.#length === 0) text = text.slice(/^[\r\n]*/.exec(text)?.[0].length);
    const searched = this.#tail + text;
    const end = END.exec(searched);
    const part = end === null ? text : text.slice(0, end.index + end[0].length - this.#tail.length);
    this.#parts.push(part);
    this.#length += part.length;
    if (this.#length > MOST_HEAD_BYTES) throw failure(`The headers of the answer were longer than ${MOST_HEAD_BYTES / 1024} KB.`);
    if (end === null) {
      this.#tail = searched.slice(-2);
      if (this.#length - part.length < BEGINNING.length) this.#checkBeginning();
      return undefined;
    }
    const { status, head } = readHead(this.#parts.join(''));
    const rest = chunk.subarray(chunk.length - (text.length - part.length));
    [this.#parts, this.#length, this.#tail] = [[], 0, ''];
    if (status >= 200) {
      this.#ended = true;
      return Buffer.concat([head, rest]);
    }
    if (status === 101) throw invalid('its status 101 switches to a protocol that was not requested');
    this.#interim += 1;
    if (this.#interim > MOST_INTERIM) throw failure(`More than ${MOST_INTERIM} 1xx answers came before the final one.`);
    return rest.length === 0 ? undefined : this.pass(rest);
  }

  /** Fails at once what is not HTTP, because such a connection often stays open. */
  #checkBeginning(): void {
    const [begun] = this.#parts.length === 1 ? this.#parts : (this.#parts = [this.#parts.join('')]);
    if (!BEGINNING.startsWith((begun as string).slice(0, BEGINNING.length))) throw notHttp();
  }
}

/** The head with what RFC 9112 allows a recipient to repair (2.2, 5.2, 6.3) or RFC 9110 (5.5). Throws ExchangeFailure for the rest. */
function readHead(text: string): { status: number; head: Buffer } {
  const [first = '', ...lines] = text.split(/\r?\n/).slice(0, -2);
  const [, major, minor = '1', status] = STATUS_LINE.exec(first) ?? [];
  if (status === undefined) throw first.startsWith(BEGINNING) ? invalid('its status line has no version and status such as HTTP/1.1 200') : notHttp();
  const version = major === '0' || (major === '1' && minor === '0') ? '1.0' : '1.1';
  const fields = fieldsOf(lines);
  const codings = fields.filter(([name, value]) => isNamed(name, 'transfer-encoding') && value.trim().toLowerCase() !== 'identity');
  // Transfer-Encoding overrides Content-Length, and equal lengths count as one.
  const lengths = codings.length > 0 ? [] : lengthsOf(fields);
  const others = fields.filter(([name]) => !isNamed(name, 'content-length') && !isNamed(name, 'transfer-encoding'));
  const sent = [...others, ...codings, ...lengths.map((length): Field => ['content-length', length])];
  const head = `HTTP/${version} ${status}\r\n${sent.map(([name, value]) => `${name}:${value}\r\n`).join('')}\r\n`;
  return { status: Number(status), head: Buffer.from(head, 'latin1') };
}

function fieldsOf(lines: readonly string[]): Field[] {
  const fields: Field[] = [];
  for (const [index, line] of lines.entries()) {
    const last = fields.at(-1);
    if (last !== undefined && /^[ \t]/.test(line)) {
      last[1] += line.replace(CONTROL, ' ');
      continue;
    }
    const colon = line.indexOf(':');
    if (colon < 0) throw invalid(`line ${index + 2} of its headers has no colon`);
    const name = line.slice(0, colon);
    if (name === '') throw invalid(`line ${index + 2} of its headers has no name`);
    if (!NAME.test(name)) throw invalid(`the header name "${printable(name)}" has a space or another character that names must not have`);
    fields.push([name, line.slice(colon + 1).replace(CONTROL, ' ')]);
  }
  return fields;
}

function lengthsOf(fields: readonly Field[]): string[] {
  const given = fields.filter(([name]) => isNamed(name, 'content-length')).flatMap(([, value]) => value.split(','));
  const lengths = [...new Set(given.map((each) => each.trim()))];
  if (lengths.length > 1) throw invalid('it has two different values of Content-Length');
  if (!lengths.every((length) => /^\d{1,15}$/.test(length))) throw invalid('its Content-Length is not a number');
  return lengths;
}

function isNamed(name: string, lowerCase: string): boolean {
  return name.length === lowerCase.length && name.toLowerCase() === lowerCase;
}

function printable(name: string): string {
  return name.slice(0, SHOWN).replace(/[^\x20-\x7e]|"/g, '?');
}

function notHttp(): ExchangeFailure {
  return failure('This is not an HTTP answer: it does not begin with a status line such as HTTP/1.1 200 OK.');
}

function invalid(reason: string): ExchangeFailure {
  return failure(`The answer is not valid HTTP: ${reason}.`);
}

function failure(message: string): ExchangeFailure {
  return new ExchangeFailure(AttemptError.EXCHANGE, message);
}
