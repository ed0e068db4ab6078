import { readFileSync } from 'node:fs';
import { createClient, type Client, type Retry } from '@truckroll/client';
import { waitingReason } from './copy/problems.ts';
import type { Asked } from './problems.ts';
import { DEFAULT_PROFILE, readProfiles, type Profile } from './profiles.ts';
import { EXIT, Failure } from './terminal/failure.ts';
import type { InputIo } from './terminal/io.ts';
import { TerminalSession } from './terminal/session.ts';

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

/** One run of the program, with what was chosen for every command. */
export class ApiSession extends TerminalSession<InputIo> {
  #chosen: Chosen = {};
  #asked: Asked | undefined;

  /** Takes the options that every command has. */
  choose(given: Chosen): void {
    if (given.json === true && given.csv === true) throw new Failure('Give --json or --csv, not both.');
    if (given.profile === '') throw new Failure('--profile needs a name.');
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
    return requireSendable(this.#access(token));
  }

  #access(token: boolean): Access {
    const { profile } = this.#chosen;
    const url = this.#url;
    if (profile === undefined) {
      const credentials = [KEY, TOKEN].map((names) => this.#first(names));
      const found = (token ? credentials.toReversed() : credentials).find((each) => each !== undefined);
      if (found !== undefined) {
        if (url === undefined) throw new Failure('Give the address of the API in TRUCKROLL_URL, or by --url, such as https://api.example.com.');
        return { baseUrl: baseUrlOf(url), ...found };
      }
    }
    const name = this.profile;
    const kept = this.#kept(name);
    if (kept === undefined) {
      throw new Failure(
        profile === undefined
          ? 'Log in with `truckroll login`, or give an API key in TRUCKROLL_API_KEY or in a file that TRUCKROLL_API_KEY_FILE names.'
          : `There is no profile ${name}: \`truckroll login --profile ${name}\` makes it.`,
      );
    }
    // A credential goes nowhere but to the installation that it belongs to.
    const other = profile === undefined ? url : this.#chosen.url;
    if (other !== undefined && baseUrlOf(other) !== kept.url)
      throw new Failure(`The profile ${name} is for ${kept.url}, and --url or TRUCKROLL_URL is ${other}: give TRUCKROLL_API_KEY, or leave the address out.`);
    return ofProfile(name, kept);
  }

  /** Filters that the command takes as arguments: by filter the argument. */
  arguments: Readonly<Record<string, string>> = {};

  /** The address of the last call and the source of its credential, for its error. */
  get asked(): Asked {
    return { ...(this.#asked ?? this.access()), arguments: this.arguments };
  }

  get profile(): string {
    return this.#chosen.profile ?? DEFAULT_PROFILE;
  }

  /** The address to log in at, if one was given. */
  get givenUrl(): string | undefined {
    return this.#url === undefined ? undefined : baseUrlOf(this.#url);
  }

  get #url(): string | undefined {
    return this.#chosen.url ?? (this.io.env['TRUCKROLL_URL']?.trim() || undefined);
  }

  #kept(name: string): Profile | undefined {
    return readProfiles(this.io.env)[name];
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

  /** A client for what the API allows users, but not keys. Throws Failure if there is only a key. */
  userClient(): Client {
    const access = this.access(true);
    if (!isKey(access)) return this.clientOf(access);
    const { profile } = this.#chosen;
    const kept = this.#kept(DEFAULT_PROFILE);
    if (profile === undefined && kept !== undefined && kept.url === access.baseUrl && !isKey(kept)) return this.clientOf(ofProfile(DEFAULT_PROFILE, kept));
    const remedy =
      profile === undefined
        ? `put one for ${access.baseUrl} into TRUCKROLL_TOKEN, or log in with one`
        : `log in with one, by \`truckroll login --profile ${profile}\``;
    throw new Failure(`API keys may not do this, and ${access.source} has one. It needs a user token: ${remedy}.`, EXIT.refused);
  }

  client(): Client {
    return this.clientOf(this.access());
  }

  clientOf(access: Access): Client {
    this.#asked = requireSendable(access);
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
    if (file === undefined || file.trim() === '') return undefined;
    let content: string;
    try {
      content = readFileSync(file, 'utf8').trim();
    } catch (error) {
      throw new Failure(`${name}_FILE names ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code}).`, EXIT.usage, error);
    }
    if (content === '') throw new Failure(`${name}_FILE names ${file}, which is empty: write the credential into it, or unset the variable.`);
    return content;
  }
}

const isKey = ({ credential }: { readonly credential: string }): boolean => credential.startsWith('trk_');

const ofProfile = (name: string, { url, credential }: Profile): Access => ({ baseUrl: url, credential, source: `profile ${name}` });

/** Without a path of the API's own. Throws Failure for what is no address, which it leaves out: it may be a credential. */
export function baseUrlOf(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new Failure('The address of the API must begin with http:// or https://: correct --url, TRUCKROLL_URL or the line that `truckroll login` read.');
  }
  return text.replace(/\/+$/, '').replace(/(\/api)?\/v1$/, '');
}

/** Throws Failure for what no header can hold, such as a sample's `trk_…`. It is not shown: it may be most of a key. */
function requireSendable(access: Access): Access {
  if (/^[!-~]+$/.test(access.credential)) return access;
  throw new Failure(`${access.source} has characters that keys and tokens do not have: copy the key or token again, whole.`, EXIT.usage);
}
