// Scripts of the pages: search, copy buttons, one language for all samples, and the reader's position.
import { copyButtons } from './copy.ts';
import { followReading } from './contents.ts';
import { chooseLanguage } from './language.ts';
import { startSearch } from './search.ts';

copyButtons();
chooseLanguage();
followReading();
startSearch();
