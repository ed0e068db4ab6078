import { dollars, tileDollars } from './money.ts';

/** An amount of a tile, which leads to its records. Its title is exact. */
export function TileAmount({ cents, href }: { cents: number; href: string }) {
  return (
    <a href={href} title={dollars(cents)}>
      {tileDollars(cents)}
    </a>
  );
}
