import { readList, changedFiles } from './list.ts';
console.log(changedFiles(readList()).join('\n'), readList().unmeasured);
