const KEPT = 'truckroll-language';

/** Choosing a language in one sample chooses it in all samples, and on the next page. */
export function chooseLanguage(): void {
  choose(read());
  document.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || !target.matches('.samples input')) return;
    // Samples above may grow or shrink: keep the page where the reader sees it.
    const before = target.getBoundingClientRect().top;
    choose(target.value);
    scrollBy(0, target.getBoundingClientRect().top - before);
    try {
      localStorage.setItem(KEPT, target.value);
    } catch {}
  });
}

function choose(language: string | null): void {
  if (language === null) return;
  for (const input of document.querySelectorAll<HTMLInputElement>('.samples input')) if (input.value === language) input.checked = true;
}

function read(): string | null {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}
