/** The samples of a metric, each as its labels and its value. */
export async function samplesOf(metrics: { render(): Promise<{ body: string }> }, name: string): Promise<string[]> {
  const { body } = await metrics.render();
  return [...body.matchAll(new RegExp(`^${name}\\{(.*)\\} (\\S+)$`, 'gm'))].map(([, labels, value]) => `${labels} ${value}`);
}
