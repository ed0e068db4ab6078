import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Problem } from '../api/problem.ts';
import { Page } from '../parts/page.tsx';
import { ProblemBox } from '../parts/problem-box.tsx';
import { Skeleton } from '../parts/skeleton.tsx';

interface Given<M> {
  /** The screen's heading until the file is loaded. */
  title: string;
  children: (screens: M) => ComponentChildren;
}

/** Screens of a file that is loaded with the first of them. */
export function later<M>(load: () => Promise<M>) {
  let loaded: M | undefined;
  return function Later({ title, children }: Given<M>) {
    const [screens, setScreens] = useState(() => loaded);
    const [problem, setProblem] = useState<Problem | undefined>(undefined);
    useEffect(() => {
      load().then(
        (module) => {
          loaded = module;
          setScreens(() => module);
        },
        () => setProblem(new Problem('This part of the console could not be loaded. Check the connection and reload the page.')),
      );
    }, []);
    if (screens !== undefined) return <>{children(screens)}</>;
    return <Page title={title}>{problem === undefined ? <Skeleton lines={6} /> : <ProblemBox problem={problem} />}</Page>;
  };
}
