// A flame graph as an SVG: the width of a function is its time, and it sits on its caller.
import { basename } from 'node:path';
import type { Frame, Stack } from './cpu-profile.ts';

const WIDTH = 1400;
const ROW = 17;
/** Minimum width of a bar in pixels. */
const LEAST = 0.4;
const LETTER = 6.2;

interface Bar {
  readonly name: string;
  readonly kind: string;
  micros: number;
  readonly above: Map<string, Bar>;
}

const COLORS: Readonly<Record<string, string>> = { ours: '#e8883a', library: '#e8c14a', node: '#8fb96a', v8: '#b9b4a7' };

/** `all` is the total CPU time per request, in µs. */
export function flameGraph(title: string, stacks: readonly Stack[], all: number): string {
  const root: Bar = { name: title, kind: 'v8', micros: 0, above: new Map() };
  for (const { frames, micros } of stacks) {
    let bar = root;
    bar.micros += micros;
    for (const frame of frames) {
      const name = nameOf(frame);
      let next = bar.above.get(name);
      if (next === undefined) bar.above.set(name, (next = { name, kind: kindOf(frame), micros: 0, above: new Map() }));
      next.micros += micros;
      bar = next;
    }
  }
  const drawn: string[] = [];
  let deepest = 0;
  const draw = (bar: Bar, x: number, depth: number): void => {
    const width = (bar.micros / root.micros) * WIDTH;
    if (width < LEAST) return;
    deepest = Math.max(deepest, depth);
    const shown = bar.name.slice(0, Math.max(0, Math.floor((width - 4) / LETTER)));
    const told = `${bar.name}: ${((all * bar.micros) / root.micros).toFixed(1)} µs per request, ${((100 * bar.micros) / root.micros).toFixed(1)} %`;
    drawn.push(
      `<g transform="translate(${x.toFixed(1)} ${depth * ROW})"><title>${escaped(told)}</title>` +
        `<rect width="${width.toFixed(1)}" height="${ROW - 1}" fill="${COLORS[bar.kind]}"/>` +
        (shown.length < 3 ? '' : `<text x="2" y="12">${escaped(shown)}</text>`) +
        '</g>',
    );
    let at = x;
    for (const above of [...bar.above.values()].toSorted((a, b) => b.micros - a.micros)) {
      draw(above, at, depth + 1);
      at += (above.micros / root.micros) * WIDTH;
    }
  };
  draw(root, 0, 0);
  const height = (deepest + 1) * ROW;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="monospace" font-size="10">\n${drawn.join('\n')}\n</svg>\n`;
}

function nameOf({ functionName, url, lineNumber }: Frame): string {
  const own = functionName === '' ? '(anonymous)' : functionName;
  return url === '' ? own : `${own} ${url.startsWith('node:') ? url.slice('node:'.length) : basename(url)}:${lineNumber + 1}`;
}

function kindOf({ url }: Frame): string {
  if (url === '') return 'v8';
  if (url.startsWith('node:')) return 'node';
  return url.includes('/node_modules/') ? 'library' : 'ours';
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
