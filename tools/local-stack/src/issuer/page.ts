import type { IssuerUser } from './client.ts';

const STYLE = `
:root { color-scheme: light dark; }
body { max-width: 27rem; margin: 0 auto; padding: 12vh 1.25rem 3rem; font: 0.9375rem/1.55 system-ui, sans-serif; }
h1 { margin: 0 0 0.25rem; font-size: 1.5rem; }
p { margin: 0 0 1rem; }
ul { padding: 0; list-style: none; }
button {
  width: 100%; margin-bottom: 0.75rem; padding: 0.9rem 1.1rem; text-align: left; font: inherit; cursor: pointer;
  color: CanvasText; background: Canvas; border: 1px solid GrayText; border-radius: 10px;
}
button:hover { border-color: CanvasText; }
button:focus-visible { outline: 3px solid #4263eb; outline-offset: 2px; }
strong, span { display: block; overflow-wrap: anywhere; }
`;

export function signInPage(users: readonly IssuerUser[]): string {
  if (users.length === 0) {
    return page('There are no users yet', '<p>The demo companies are still being made. Reload this page in a few seconds.</p>');
  }
  const choices = users.map(
    ({ subject, name, email, company }) => `<li><button name="subject" value="${escape(subject)}">
<strong>${escape(name)}</strong><span>${escape(company?.name ?? 'No company')}</span><span>${escape(email)}</span>
</button></li>`,
  );
  return page(
    'Who are you?',
    `<p>This sign-in page belongs to <code>npm start</code>. It asks for no password.</p>
<form method="post"><ul>${choices.join('')}</ul></form>`,
  );
}

/** `form` is the provider's, with a field for the code. */
export function codePage(form: string, wrong: boolean): string {
  const said = wrong ? 'This code is not known: enter the one that the program shows now.' : 'Enter the code that the program shows.';
  return page('Sign in a program', `<p>${said}</p>${form}<button form="op.deviceInputForm">Continue</button>`);
}

/** `form` is the provider's, which confirms the code. `user` is who this browser is signed in as, and is not asked again. */
export function confirmPage(form: string, code: string, user?: IssuerUser): string {
  const said = `Continue only if the program that you started shows the code <code>${escape(code)}</code>.`;
  const shown =
    user === undefined
      ? ''
      : `<p>It will be signed in as ${named(user)}, as this browser is. To choose another user, open the address in a private window.</p>`;
  return page('Is this your program?', `<p>${said}</p>${shown}${form}<button form="op.deviceConfirmForm">Continue</button>`);
}

export function signedInPage(user?: IssuerUser): string {
  const shown = user === undefined ? '' : `<p>It is signed in as ${named(user)}.</p>`;
  return page('The program is signed in', `${shown}<p>You can close this page.</p>`);
}

const named = ({ name, email }: IssuerUser): string => `${escape(name)} (${escape(email)})`;

export function problemPage(text: string): string {
  return page('This sign-in cannot go on', `<p>${escape(text)}</p>`);
}

function page(title: string, content: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Truckroll</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`;
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
