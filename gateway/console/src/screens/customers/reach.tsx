export function Telephone({ number }: { number: string | null }) {
  return number === null ? <span class="soft">–</span> : <a href={`tel:${number.replace(/[^+\d]/g, '')}`}>{spoken(number)}</a>;
}

export function Mail({ address }: { address: string | null }) {
  return address === null ? (
    <span class="soft">–</span>
  ) : (
    <a href={`mailto:${encodeURIComponent(address).replace('%40', '@')}`} title={address}>
      {address}
    </a>
  );
}

/** "(512) 555-0100" of +15125550100; other countries' numbers as they are. */
export function spoken(number: string): string {
  const [, area, exchange, line] = /^\+1(\d{3})(\d{3})(\d{4})$/.exec(number) ?? [];
  return area === undefined ? number : `(${area}) ${exchange}-${line}`;
}
