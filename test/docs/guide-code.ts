// Code of the guides that readers should run: its fence names `check`, or the file name.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { guideFiles } from '../../gateway/docs/src/guides.ts';

export interface GuideCode {
  name: string;
  file: string;
  language: string;
  code: string;
}

export function guideCode(root: string): GuideCode[] {
  return guideFiles.flatMap((guide) => {
    const text = readFileSync(join(root, 'docs', guide), 'utf8');
    return [...text.matchAll(/^```(bash|typescript|python) ([\w.]+)\n([^]*?)^```$/gm)].map(([, language = '', file = '', code = '']) => ({
      name: `${guide}, ${file} in ${language}`,
      file,
      language,
      code,
    }));
  });
}
