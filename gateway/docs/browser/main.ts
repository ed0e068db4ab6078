// Scripts of the pages: search, copy buttons, one language for all samples, running them, and the reader's position.
import { copyButtons } from './copy.ts';
import { followReading } from './contents.ts';
import { chooseLanguage } from './language.ts';
import { runSamples } from './run.ts';
import { startSearch } from './search.ts';

copyButtons();
chooseLanguage();
followReading();
startSearch();
void runSamples().catch(() => undefined);
