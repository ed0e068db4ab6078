import type { Json, Member } from './json.ts';

/** Deeper or longer values are folded at first. */
const OPEN_DEPTH = 4;
const OPEN_MEMBERS = 50;

interface Given {
  what: string;
  value: Json;
  /** Whether all are unfolded or all folded; undefined decides by size. */
  unfolded: boolean | undefined;
}

/** JSON in colours. Objects and arrays fold: each is a `<details>`, which keyboards and screen readers can operate. */
export function JsonTree({ what, value, unfolded }: Given) {
  return (
    <div class="json" role="group" aria-label={what} tabIndex={0}>
      <Line member={{ name: undefined, value }} last depth={0} unfolded={unfolded} />
    </div>
  );
}

function Line({ member: { name, value }, last, depth, unfolded }: { member: Member; last: boolean; depth: number; unfolded: boolean | undefined }) {
  const label = name !== undefined && (
    <>
      <bdi class="key">{name}</bdi>:{' '}
    </>
  );
  const end = last ? '' : ',';
  if (!('members' in value))
    return (
      <div>
        {label}
        <bdi class={value.kind}>{value.text}</bdi>
        {end}
      </div>
    );
  const { kind, members } = value;
  const [opening, closing] = kind === 'object' ? ['{', '}'] : ['[', ']'];
  if (members.length === 0)
    return (
      <div>
        {label}
        {opening}
        {closing}
        {end}
      </div>
    );
  const open = depth === 0 || (unfolded ?? (depth < OPEN_DEPTH && members.length <= OPEN_MEMBERS));
  return (
    <details open={open}>
      <summary>
        {label}
        {opening}
        <span class="folded">
          {' '}
          {counted(members.length, kind)} {closing}
          {end}
        </span>
      </summary>
      <div class="members">
        {members.map((member, index) => (
          <Line key={index} member={member} last={index === members.length - 1} depth={depth + 1} unfolded={unfolded} />
        ))}
      </div>
      <div>
        {closing}
        {end}
      </div>
    </details>
  );
}

function counted(count: number, kind: 'object' | 'array'): string {
  const what = kind === 'object' ? 'field' : 'element';
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
