// A user who signs a program in at the issuer of `npm start`, as in a browser: enters its code, and chooses a user.
import type { ChildProcess } from 'node:child_process';

const ASKED = /^Open (\S+) and enter the code/m;

/** Signs the program in once it asks for that on standard error. */
export function signInWhenAsked({ stderr }: ChildProcess): void {
  let said = '';
  let begun = false;
  stderr?.on('data', (part: string) => {
    said += part;
    const address = ASKED.exec(said)?.[1];
    if (address === undefined || begun) return;
    begun = true;
    signIn(address).catch((error: unknown) => console.error(`cannot sign in at ${address}: ${String(error)}`));
  });
}

/** Signs in as the first user that the issuer offers, or as the user of the session in `cookies`. Resolves to the pages that name the user. */
export async function signIn(address: string, cookies = new Map<string, string>()): Promise<{ confirming: string; done: string }> {
  let place = address;
  async function ask(fields?: Record<string, string>): Promise<string> {
    for (let init: RequestInit = fields === undefined ? {} : { method: 'POST', body: new URLSearchParams(fields) }; ; init = {}) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const answer = await fetch(place, { ...init, redirect: 'manual', headers: { cookie } });
      for (const each of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]*)=([^;]*)/.exec(each) ?? [];
        cookies.set(name, value);
      }
      const next = answer.headers.get('location');
      const page = await answer.text();
      if (next === null && !answer.ok) throw new Error(`${place}: ${answer.status} ${page}`);
      if (next === null) return page;
      place = new URL(next, place).href;
    }
  }
  // The address has the code, and its page sends it.
  const entering = await ask();
  place = /<form[^>]* action="([^"]+)"/.exec(entering)?.[1] ?? place;
  const confirming = await ask(fieldsOf(entering));
  const next = await ask(fieldsOf(confirming));
  const [subject] = /(?<=name="subject" value=")[^"]+/.exec(next) ?? [];
  if (subject === undefined && !next.includes('The program is signed in')) throw new Error(`there is no user to choose: ${next}`);
  return { confirming, done: subject === undefined ? next : await ask({ subject }) };
}

/** Hidden fields of the page's form. */
function fieldsOf(page: string): Record<string, string> {
  return Object.fromEntries([...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]));
}
