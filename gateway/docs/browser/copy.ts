/** Adds a copy button to every code block. Browsers refuse to copy on pages from a remote plain-HTTP address; the button says so. */
export function copyButtons(): void {
  for (const block of document.querySelectorAll('.code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'small copy';
    button.textContent = 'Copy';
    const status = document.createElement('span');
    status.setAttribute('role', 'status');
    status.className = 'copied';
    button.addEventListener('click', () => void copy(block.querySelector('code')?.textContent ?? '', status));
    block.append(button, status);
  }
}

async function copy(text: string, status: HTMLElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    status.textContent = 'Copied';
  } catch {
    status.textContent = 'Not allowed here: select it and copy it by hand';
  }
  setTimeout(() => (status.textContent = ''), 4000);
}
