import { readFileSync } from 'node:fs';
import { createClient, type Client, type Retry } from '@truckroll/client';
import { waitingReason } from './copy/problems.ts';
import type { Asked } from './problems.ts';
import { DEFAULT_PROFILE, readProfiles } from './profiles.ts';
import { EXIT, Failure } from './terminal/failure.ts';
import type { InputIo } from './terminal/io.ts';
import { printable } from './terminal/printable.ts';

/** After these attempts the API counts as away: about a quarter of a minute. */
const RETRIES = 4;
const LONGEST_WAIT_SECONDS = 60;

/** Variables by their present name, then the name that works until 2027-12-01. */
const KEY = ['TRUCKROLL_API_KEY', 'TRUCKROLL_KEY'];
const TOKEN = ['TRUCKROLL_TOKEN'];

interface Access extends Asked {
  readonly credential: string;
}

interface Chosen {
  readonly profile?: string;
  readonly url?: string;
  readonly json?: boolean;
  readonly csv?: boolean;
}

/** One run of the program: what was chosen for every command, and how it answers. */
export class ApiSession {
  readonly io: InputIo;
  exitCode: number = EXIT.done;
  #chosen: Chosen = {};
  #asked: Asked | undefined;

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

  /**
   * From the profile that --profile names, else from the environment, else from the default profile. `token` prefers a user token to a key. Throws
   * Failure if none is known.
   */
  access(token = false): Access {
    const { url = this.io.env['TRUCKROLL_URL'], profile } = this.#chosen;
    if (profile === undefined) {
      const credentials = [KEY, TOKEN].map((names) => this.#first(names));
      const found = (token ? credentials.toReversed() : credentials).find((each) => each !== undefined);
      if (found !== undefined) {
        if (url === undefined) throw new Failure('Give the address of the API in TRUCKROLL_URL, or by --url, such as https://api.example.com.');
        return { baseUrl: baseUrlOf(url), ...found };
      }
    }
    const name = profile ?? DEFAULT_PROFILE;
    const kept = readProfiles(this.io.env)[name];
    if (kept === undefined) {
      throw new Failure(
        profile === undefined
          ? 'Log in with `truckroll login`, or give an API key in TRUCKROLL_API_KEY or in a file that TRUCKROLL_API_KEY_FILE names.'
          : `There is no profile ${name}: \`truckroll login --profile ${name}\` makes it.`,
      );
    }
    // A credential goes nowhere but to the installation that it belongs to.
    if (url !== undefined && baseUrlOf(url) !== kept.url)
      throw new Failure(`The profile ${name} is for ${kept.url}, and --url or TRUCKROLL_URL is ${url}: give TRUCKROLL_API_KEY, or leave the address out.`);
    return { baseUrl: kept.url, credential: kept.credential, source: `profile ${name}` };
  }

  /** Of the last call; for its error. */
  get asked(): Asked {
    return this.#asked ?? this.access();
  }

  get profile(): string {
    return this.#chosen.profile ?? DEFAULT_PROFILE;
  }

  /** The address to log in at, if one was given. */
  get givenUrl(): string | undefined {
    const url = this.#chosen.url ?? this.io.env['TRUCKROLL_URL'];
    return url === undefined ? undefined : baseUrlOf(url);
  }

  #first(names: readonly string[]): { credential: string; source: string } | undefined {
    for (const source of names) {
      const credential = this.secret(source);
      if (credential !== undefined) return { credential, source };
    }
    return undefined;
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
      throw new Failure('API keys may not do this. It needs a user token: put one into TRUCKROLL_TOKEN, or log in with one.', EXIT.refused);
    }
    return this.clientOf(access);
  }

  client(): Client {
    return this.clientOf(this.access());
  }

  clientOf(access: Access): Client {
    this.#asked = access;
    const { baseUrl, credential } = access;
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
export function baseUrlOf(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new Failure(`The address of the API must begin with http:// or https://, and is ${text}: correct --url or TRUCKROLL_URL.`);
  }
  return text.replace(/\/+$/, '').replace(/(\/api)?\/v1$/, '');
}
