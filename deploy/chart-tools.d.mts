/** The folder of helm, helm-unittest, helm-docs and kubeconform. Throws a sentence that says what to do. */
export function chartTools(): string;
