/** Saves a file that the page has made. */
export function save(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // Some browsers open the file only after a moment.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
