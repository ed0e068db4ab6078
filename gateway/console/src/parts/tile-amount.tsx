import { dollars, tileDollars } from './money.ts';

/** An amount of a tile. Its cents are seen where there is room for them, in print, and at the focus; its title has them, too. */
export function TileDollars({ cents }: { cents: number }) {
  const [exact, short] = [dollars(cents), tileDollars(cents)];
  if (short === exact) return <>{exact}</>;
  return (
    <span title={exact}>
      <span class="short">{short}</span>
      <span class="exact">{exact}</span>
    </span>
  );
}

/** An amount of a tile, which leads to its records. */
export function TileAmount({ cents, href }: { cents: number; href: string }) {
  return (
    <a href={href}>
      <TileDollars cents={cents} />
    </a>
  );
}
