/** The reference's only style sheet. No address outside, no script, no font to load. */
export const docsStyle = `
:root { color-scheme: light dark; --text: #1c2128; --soft: #57606a; --back: #ffffff; --panel: #f6f8fa; --line: #d0d7de; --link: #0550ae; --get: #116329; --write: #953800; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --soft: #9da7b3; --back: #0d1117; --panel: #161b22; --line: #30363d; --link: #79c0ff; --get: #7ee787; --write: #ffa657; }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; font: 1rem/1.55 system-ui, sans-serif; color: var(--text); background: var(--back); }
a { color: var(--link); }
a:focus-visible, summary:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 3px; }
code, pre, .path { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 0.875em; }
code { background: var(--panel); padding: 0.1em 0.3em; border-radius: 4px; overflow-wrap: anywhere; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 0.75rem; overflow-x: auto; }
pre code { background: none; padding: 0; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 1rem; top: 1rem; background: var(--back); padding: 0.5rem; }
.page { display: grid; grid-template-columns: 17rem minmax(0, 1fr); max-width: 80rem; margin: 0 auto; }
nav { position: sticky; top: 0; align-self: start; height: 100vh; overflow-y: auto; padding: 1rem; border-right: 1px solid var(--line); font-size: 0.9rem; }
nav ul { list-style: none; padding: 0; margin: 0 0 1rem; }
nav li { padding: 0.15rem 0; }
nav summary { cursor: pointer; font-weight: 600; padding: 0.25rem 0; }
main { padding: 1rem 2rem 6rem; min-width: 0; }
h1 { font-size: 1.7rem; line-height: 1.25; }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); padding-bottom: 0.3rem; }
h3 { margin-top: 2rem; }
.verb { font-weight: 700; color: var(--get); }
.verb.write { color: var(--write); }
.path { font-weight: 600; overflow-wrap: anywhere; }
.fields { margin: 0; border-top: 1px solid var(--line); }
.fields > div { display: grid; grid-template-columns: minmax(9rem, 15rem) minmax(0, 1fr); gap: 0 1rem; padding: 0.5rem 0; border-bottom: 1px solid var(--line); }
.fields dt { overflow-wrap: anywhere; }
.fields dd { margin: 0; }
.fields dd p { margin: 0 0 0.25rem; }
.type { color: var(--soft); font-size: 0.875rem; display: block; }
details > summary { cursor: pointer; }
@media (max-width: 52rem) {
  .page { display: block; }
  nav { position: static; height: auto; max-height: 50vh; border-right: 0; border-bottom: 1px solid var(--line); }
  main { padding: 1rem; }
  .fields > div { display: block; }
}
@media print { nav { display: none; } .page { display: block; } }
`;
