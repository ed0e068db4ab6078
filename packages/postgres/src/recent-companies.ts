/** Work of no company in particular: background parts, and look-ups before the company is known. */
export const NO_COMPANY = '';

/** Time in ms for which a company counts as active after its last request. */
const ACTIVE_MS = 1000;

/** Keeps only the last two companies: enough to know whether more than one is active. */
export class RecentCompanies {
  #latest = { name: NO_COMPANY, at: -Infinity };
  #before = { name: NO_COMPANY, at: -Infinity };

  note(name: string): void {
    if (name === NO_COMPANY) return;
    if (name !== this.#latest.name) [this.#latest, this.#before] = [this.#before, this.#latest];
    this.#latest.name = name;
    this.#latest.at = performance.now();
  }

  isAnyBut(name: string): boolean {
    const other = this.#latest.name === name ? this.#before : this.#latest;
    return performance.now() - other.at < ACTIVE_MS;
  }
}
