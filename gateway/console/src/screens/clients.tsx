// How to install the clients that the gateway of this page serves.
import { CopyButton } from '../parts/copy-button.tsx';

interface Installation {
  readonly language: string;
  readonly install: string;
}

const content = document.querySelector<HTMLMetaElement>('meta[name="clients"]')?.content ?? '[]';
const address = new URL('.', location.href).href.replace(/\/$/, '');
const clients = (JSON.parse(content) as Installation[]).map(({ language, install }) => ({ language, line: install.replace('{{address}}', address) }));

export function Clients() {
  if (clients.length === 0) return null;
  return (
    <section>
      <h2>Use a key in a program</h2>
      <p>
        These packages have the version of this API. <a href="docs/start#clients">How to use them</a>
      </p>
      {clients.map(({ language, line }) => (
        <p key={language}>
          {language}: <code>{line}</code> <CopyButton text={line} what={`the command for ${language}`} />
        </p>
      ))}
    </section>
  );
}
