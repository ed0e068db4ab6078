import { readFileSync } from 'node:fs';
import { createClient, type Client, type Retry } from '@truckroll/client';
import { waitingReason, type Asked } from './problems.ts';
import { EXIT, Failure } from './terminal/failure.ts';
import type { InputIo } from './terminal/io.ts';
import { printable } from './terminal/printable.ts';

/** After these attempts the API counts as away: about a quarter of a minute. */
const RETRIES = 4;
const LONGEST_WAIT_SECONDS = 60;

interface Access extends Asked {
  readonly credential: string;
}

interface Chosen {
  readonly url?: string;
  readonly json?: boolean;
  readonly csv?: boolean;
}

/** One run of the program: what was chosen for every command, and how it answers. */
export class Session {
  readonly io: InputIo;
  exitCode: number = EXIT.done;
  #chosen: Chosen = {};

  constructor(io: InputIo) {
    this.io = io;
  }

  /** Takes the options that every command has. */
  choose(given: Chosen): void {
    if (given.json === true && given.csv === true) throw new Failure('Give --json or --csv, not both.');
    this.#chosen = given;
  }

  get json(): boolean {
    return this.#chosen.json === true;
  }

  get csv(): boolean {
    return this.#chosen.csv === true;
  }

  /** `token` prefers a user token to a key. Throws Failure if none is known. */
  access(token = false): Access {
    const credentials = ['TRUCKROLL_API_KEY', 'TRUCKROLL_TOKEN'].map((name) => [name, this.secret(name)] as const);
    const [source, credential] = (token ? credentials.toReversed() : credentials).find(([, value]) => value !== undefined) ?? [];
    if (source === undefined || credential === undefined)
      throw new Failure('Give an API key in TRUCKROLL_API_KEY, or in a file that TRUCKROLL_API_KEY_FILE names.');
    const url = this.#chosen.url ?? this.io.env['TRUCKROLL_URL'];
    if (url === undefined) throw new Failure('Give the address of the API in TRUCKROLL_URL, or by --url, such as https://api.example.com.');
    return { baseUrl: baseUrlOf(url), credential, source };
  }

  baseUrl(): string {
    return this.access().baseUrl;
  }

  apiKey(): string {
    return this.access().credential;
  }

  /** For what the API lets users do, and no keys. Throws Failure if there is only a key. */
  userClient(): Client {
    const access = this.access(true);
    if (access.credential.startsWith('trk_')) {
      throw new Failure('API keys may not do this. It needs a user token: put one into TRUCKROLL_TOKEN.', EXIT.refused);
    }
    return this.#clientOf(access);
  }

  client(): Client {
    return this.#clientOf(this.access());
  }

  #clientOf({ baseUrl, credential }: Access): Client {
    const onRetry = (retry: Retry): void => {
      const reason = waitingReason(retry);
      if (reason !== undefined) this.note(reason);
    };
    return createClient({ baseUrl, token: credential, retries: RETRIES, longestWaitSeconds: LONGEST_WAIT_SECONDS, onRetry });
  }

  /** The variable, or the content of the file that NAME_FILE names. */
  secret(name: string): string | undefined {
    const { [name]: value, [`${name}_FILE`]: file } = this.io.env;
    if (value !== undefined && value.trim() !== '') return value.trim();
    if (file === undefined) return undefined;
    try {
      return readFileSync(file, 'utf8').trim();
    } catch (error) {
      throw new Failure(`${name}_FILE names ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code}).`, EXIT.usage, error);
    }
  }

  print(value: unknown, text: string): void {
    this.say(this.json ? JSON.stringify(value) : text);
  }

  say(text: string): void {
    this.io.stdout.write(`${printable(text)}\n`);
  }

  note(text: string): void {
    this.io.stderr.write(`${printable(text)}\n`);
  }
}

/** Without a path of the API's own. Throws Failure for what is no address. */
function baseUrlOf(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new Failure(`The address of the API must begin with http:// or https://, and is ${text}: correct --url or TRUCKROLL_URL.`);
  }
  return text.replace(/\/+$/, '').replace(/(\/api)?\/v1$/, '');
}
