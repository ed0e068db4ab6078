// What rendered manifests have and lack compared with others, object by object, in a form short enough to read and to keep.

/** Lines by `Kind/name`, without comments and empty lines. */
function objectsOf(manifests) {
  const objects = new Map();
  for (const text of manifests.split(/^---$/m)) {
    const lines = text.split('\n').filter((line) => line.trim() !== '' && !/^\s*#/.test(line));
    const [kind, name] = [/^kind: (.*)$/m, /^ {2}name: (.*)$/m].map((pattern) => pattern.exec(text)?.[1]);
    if (lines.length > 0) objects.set(`${kind}/${name}`, lines);
  }
  return objects;
}

/** Removed and added lines in order, by the longest common subsequence. */
function changedLines(before, after) {
  const common = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1));
  for (let at = before.length - 1; at >= 0; at -= 1)
    for (let to = after.length - 1; to >= 0; to -= 1)
      common[at][to] = before[at] === after[to] ? common[at + 1][to + 1] + 1 : Math.max(common[at + 1][to], common[at][to + 1]);
  const changed = [];
  for (let at = 0, to = 0; at < before.length || to < after.length; ) {
    if (at < before.length && to < after.length && before[at] === after[to]) [at, to] = [at + 1, to + 1];
    else if (at < before.length && (to === after.length || common[at + 1][to] >= common[at][to + 1])) changed.push(`- ${before[at++]}`);
    else changed.push(`+ ${after[to++]}`);
  }
  return changed;
}

/** Objects that change in the same way stand together. */
export function shortDiff(base, manifests) {
  const [before, after] = [objectsOf(base), objectsOf(manifests)];
  const groups = new Map();
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const lines = after.has(key) ? changedLines(before.get(key) ?? [], after.get(key)) : ['is not there'];
    if (lines.length > 0) groups.set(lines.join('\n'), [...(groups.get(lines.join('\n')) ?? []), key]);
  }
  return [...groups].map(([lines, keys]) => `${keys.join('\n')}\n${lines.replace(/^/gm, '  ')}\n`).join('\n');
}
