import { replaceModule } from '../replace.ts';

replaceModule(new URL('../../../../packages/postgres/src/database.ts', import.meta.url), new URL('./database.ts', import.meta.url));
