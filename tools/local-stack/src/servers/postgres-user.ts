import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Problem } from '../problem.ts';
import { run } from '../processes/run.ts';

/** How to run a server that refuses to run as root, as PostgreSQL and PgBouncer do. */
export interface PostgresUser {
  readonly uid: number;
  readonly gid: number;
  /** A command to put in front, for when the user cannot enter the folders on its own. */
  readonly prefix: readonly string[];
}

const NAME = 'postgres';

/**
 * Undefined unless this process is root. Root's checkout may lie in a folder that only root can enter; the user then keeps
 * the right to enter it, and nothing else of root's.
 */
export async function postgresUser(binary: string, folder: string, title = 'PostgreSQL'): Promise<PostgresUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const ids = find() ?? create();
  const probe = ['/bin/sh', '-c', 'cd "$1" && "$2" --version', 'sh', folder, binary];
  const direct = await run(probe[0]!, probe.slice(1), { user: ids });
  if (direct.code === 0) return { ...ids, prefix: [] };
  const prefix = [
    'setpriv',
    `--reuid=${ids.uid}`,
    `--regid=${ids.gid}`,
    '--clear-groups',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
    // Without it access(2), which initdb asks, takes no account of that right.
    '--securebits=+no_setuid_fixup',
    '--',
  ];
  const privileged = await run(prefix[0]!, [...prefix.slice(1), ...probe]);
  if (privileged.code === 0) return { ...ids, prefix };
  throw new Problem(
    `${title} does not run as root, and the user ${NAME} cannot enter ${folder}: move the checkout to a folder that every user can enter, or run as another user.`,
  );
}

function find(): { uid: number; gid: number } | undefined {
  const fields = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .find(([name]) => name === NAME);
  return fields && { uid: Number(fields[2]), gid: Number(fields[3]) };
}

function create(): { uid: number; gid: number } {
  try {
    execFileSync('groupadd', ['--system', '--force', NAME], { stdio: 'pipe' });
    execFileSync('useradd', ['--system', '-g', NAME, NAME], { stdio: 'pipe' });
  } catch (error) {
    throw new Problem(`PostgreSQL does not run as root, and no user ${NAME} could be made (${(error as Error).message.trim()}): run as another user.`);
  }
  const ids = find();
  if (!ids) throw new Problem(`PostgreSQL does not run as root and there is no user ${NAME}: run as another user.`);
  return ids;
}
