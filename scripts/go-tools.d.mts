export function goTools(tools: { module: string; name: string; purpose: string }): string;
