import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Problem } from '../api/problem.ts';
import { Page } from '../parts/page.tsx';
import { ProblemBox } from '../parts/problem-box.tsx';
import type * as Settings from './settings.ts';

let loaded: typeof Settings | undefined;

/** A screen of settings.ts, once that file is loaded. */
export function Later({ title, children }: { title: string; children: (settings: typeof Settings) => ComponentChildren }) {
  const [settings, setSettings] = useState(loaded);
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  useEffect(() => {
    import('./settings.ts').then(
      (module) => {
        loaded = module;
        setSettings(module);
      },
      () => setProblem(new Problem('This part of the console could not be loaded. Check the connection and reload the page.')),
    );
  }, []);
  if (settings !== undefined) return <>{children(settings)}</>;
  return (
    <Page title={title}>
      <p role="status">{problem === undefined && 'Loading…'}</p>
      <ProblemBox problem={problem} />
    </Page>
  );
}
