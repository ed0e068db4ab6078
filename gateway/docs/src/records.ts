// How records refer to each other, drawn from the contract: a picture, and the same as a table.
import * as dagre from '@dagrejs/dagre';
import { resources, type Shape } from '@truckroll/contract';
import { html, slug, type Html } from './html.ts';
import { rootFrom, type SitePage } from './layout.ts';
import { heading } from './markdown.ts';

interface Reference {
  /** `account`, `line_items.item_id`. */
  field: string;
  /** Path of the records that it names: `accounts`. */
  to: string;
}

type Point = { x: number; y: number };
type Size = { width: number; height: number };

/** What is used of the library, whose own types need another module resolution. */
interface Graph {
  setGraph(settings: object): void;
  setDefaultEdgeLabel(label: () => object): void;
  setNode(name: string, size: Size): void;
  setEdge(from: string, to: string): void;
  graph(): Size;
  nodes(): string[];
  node(name: string): Size & Point;
  edges(): object[];
  edge(edge: object): { points: Point[] };
}
const { Graph: NewGraph, layout } = dagre as unknown as { Graph: new () => Graph; layout(graph: Graph): void };

const PATH = '/docs/records';
const [HEIGHT, PER_LETTER, BESIDE] = [34, 7.6, 26];

export function recordsPage(): SitePage {
  const all = resources.map(({ path, record }) => ({ path, references: referencesOf(record) })).toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const known = new Set(all.map(({ path }) => path));
  const own = all.map(({ path, references }) => ({ path, references: references.filter(({ to }) => known.has(to)) }));
  const arrows = fewest(own.flatMap(({ path, references }) => references.map(({ to }) => [path, to] as const)));
  const root = rootFrom(PATH);
  const link = (path: string): Html => html`<a href="${root}docs/reference/${slug(path)}">${path}</a>`;
  const grouped = own
    .map(({ path, references }) => ({ path, targets: [...Map.groupBy(references, ({ to }) => to)] }))
    .filter(({ targets }) => targets.length > 0);
  const about =
    'Arrows lead from a record to the one whose id it holds. Where other arrows lead there too, one is left out, and so are team members and what only classifies records: the table has all.';
  return {
    path: PATH,
    title: 'How records refer to each other',
    group: 'Records',
    wide: true,
    description: 'Which record holds the id of which other, as a picture and as a table.',
    headings: [{ id: 'fields', text: 'Fields', level: 2 }],
    body: html`<p>Which record holds the id of which other, and in which field.</p>
<figure><div class="table" tabindex="0">${picture(arrows)}</div><figcaption class="note">${about}</figcaption></figure>
${heading(2, 'fields', 'Fields')}
<div class="table" tabindex="0"><table><thead><tr><th>Record</th><th>Refers to</th><th>By</th></tr></thead><tbody>${grouped.flatMap(({ path, targets }) =>
      targets.map(
        ([to, by], index) =>
          html`<tr><td>${index === 0 && link(path)}</td><td>${link(to)}</td><td>${by.map(({ field }, at) => html`${at > 0 && ', '}<code>${field}</code>`)}</td></tr>`,
      ),
    )}</tbody></table></div>`,
    markdown: [
      '# How records refer to each other',
      '',
      'Which record holds the id of which other, and in which field.',
      '',
      '## Fields',
      '',
      '| Record | Refers to | By |',
      '|---|---|---|',
      ...grouped.flatMap(({ path, targets }) => targets.map(([to, by]) => `| ${path} | ${to} | ${by.map(({ field }) => `\`${field}\``).join(', ')} |`)),
      '',
    ].join('\n'),
  };
}

/** Every field that refers to a record, at any depth. */
function referencesOf({ fields }: Shape, within = ''): Reference[] {
  return fields.flatMap((field): Reference[] => {
    const name = `${within}${field.name}`;
    if (field.refersTo !== undefined) return [{ field: name, to: field.refersTo }];
    return field.shape === undefined || field.kind === 'reference' ? [] : referencesOf(field.shape, `${name}.`);
  });
}

type Arrow = readonly [from: string, to: string];

/** Named by most records, so that lines to them would hide the others. */
const EVERYWHERE = ['team-members', 'business-units', 'job-types', 'job-lifecycles', 'lead-sources', 'tags'];

/** Arrows by which everything is reached that all of them reach, without those to the kinds that are named most. */
function fewest(all: readonly Arrow[]): Arrow[] {
  const named = (kind: string): number => new Set(all.filter(([, to]) => to === kind).map(([from]) => from)).size;
  const drawn = all.filter(([from, to]) => from !== to && !EVERYWHERE.includes(from) && !EVERYWHERE.includes(to));
  let left: readonly Arrow[] = [...new Map(drawn.map((arrow) => [arrow.join(), arrow])).values()];
  for (const arrow of left.toSorted((a, b) => named(b[1]) - named(a[1]))) {
    const others = left.filter((each) => each !== arrow);
    if (reaches(others, ...arrow)) left = others;
  }
  return [...left];
}

function reaches(arrows: readonly Arrow[], from: string, to: string, seen = new Set<string>()): boolean {
  if (from === to) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  return arrows.some(([start, next]) => start === from && reaches(arrows, next, to, seen));
}

function picture(arrows: readonly Arrow[]): Html {
  const graph = new NewGraph();
  graph.setGraph({ rankdir: 'TB', nodesep: 26, ranksep: 42, marginx: 4, marginy: 4 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const path of new Set(arrows.flat())) graph.setNode(path, { width: path.length * PER_LETTER + BESIDE, height: HEIGHT });
  for (const arrow of arrows) graph.setEdge(...arrow);
  layout(graph);
  const { width, height } = graph.graph();
  const nodes = graph.nodes().map((path) => ({ path, ...graph.node(path) }));
  const lines = graph.edges().map((edge) => graph.edge(edge).points);
  const at = (value: number): string => value.toFixed(1);
  return html`<svg class="map" viewBox="0 0 ${at(width)} ${at(height)}" width="${at(width)}" role="img" aria-label="Arrows between records, which the table below lists"><defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>${lines.map(
    (points) => html`<path d="${points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${at(x)} ${at(y)}`).join('')}" marker-end="url(#arrow)"/>`,
  )}${nodes.map(
    ({ path, x, y, width: wide, height: high }) =>
      html`<rect x="${at(x - wide / 2)}" y="${at(y - high / 2)}" width="${at(wide)}" height="${at(high)}" rx="6"/><text x="${at(x)}" y="${at(y)}">${path}</text>`,
  )}</svg>`;
}
