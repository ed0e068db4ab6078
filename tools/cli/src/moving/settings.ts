// The settings of a move. One message names all that are missing or wrong.
import { owners } from '@truckroll/contract';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import type { Session } from '../session.ts';
import { otherSession } from './cells.ts';
import { sourceUrl } from './reading.ts';

/** The other cell's session. Throws Failure that names everything that is missing or wrong, of both cells. */
export function readSettings(session: Session, to: string | undefined): Session {
  const others: Session[] = [];
  const failures = [
    ...failuresOf([() => others.push(otherSession(session, to)), ...worksOf(session), () => sourceUrl({ session, url: '' })]),
    ...others.flatMap((other) => failuresOf(worksOf(other))),
  ];
  const [first] = failures;
  const messages = new Set(failures.map(({ message }) => message));
  if (first !== undefined) throw messages.size === 1 ? first : new Failure([...messages].join('\n'), EXIT.usage);
  return others[0]!;
}

const worksOf = (session: Session): (() => unknown)[] => [
  () => owners.map((owner) => session.database(owner)),
  ...owners.map((owner) => () => session.address(owner)),
  () => session.channel('integrations'),
];

function failuresOf(works: readonly (() => unknown)[]): Failure[] {
  return works.flatMap((work) => {
    try {
      work();
      return [];
    } catch (error) {
      if (error instanceof Failure) return error;
      throw error;
    }
  });
}
