// What scripts add to the pages: a search, copying, one language for all samples, and where on the page one is.
import { copyButtons } from './copy.ts';
import { followReading } from './contents.ts';
import { chooseLanguage } from './language.ts';
import { startSearch } from './search.ts';

copyButtons();
chooseLanguage();
followReading();
startSearch();
