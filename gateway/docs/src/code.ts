// Code blocks of the pages, highlighted when the pages are built, so that browsers need no script for it.
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import http from 'highlight.js/lib/languages/http';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import yaml from 'highlight.js/lib/languages/yaml';
import { Html, html } from './html.ts';

for (const [name, language] of Object.entries({ bash, http, javascript, json, python, sql, typescript, yaml })) hljs.registerLanguage(name, language);

const PLAIN = new Set(['text', 'csv']);

/** A code block that the keyboard can scroll too. Throws if the language is unknown. */
export function codeBlock(code: string, language: string): Html {
  const text = code.replace(/\n$/, '');
  if (!PLAIN.has(language) && hljs.getLanguage(language) === undefined) throw new Error(`code in ${language}, which src/code.ts does not know`);
  const coloured = PLAIN.has(language) ? html`${text}` : new Html(hljs.highlight(text, { language, ignoreIllegals: true }).value);
  return html`<div class="code"><pre tabindex="0"><code>${coloured}</code></pre></div>`;
}

export function jsonBlock(value: unknown): Html {
  return codeBlock(JSON.stringify(value, null, 2), 'json');
}
