import type { DemoAccess } from '../demo-companies.ts';
import type { StartPlan } from './plan.ts';

export function welcome({ baseUrl, signsIn }: StartPlan, access: DemoAccess | undefined, duration: string, prometheusUrl?: string): string {
  const lines = [
    '',
    `Truckroll is ready after ${duration}.`,
    '',
    `  API         ${baseUrl}`,
    `  Docs        ${baseUrl}/docs`,
    `  Console     ${baseUrl}/console  (${signsIn ? 'sign in by choosing a user' : 'sign in at your issuer'})`,
  ];
  if (prometheusUrl !== undefined) lines.push(`  Prometheus  ${prometheusUrl}  (dashboards for Grafana are in deploy/dashboards)`);
  if (access) {
    lines.push(
      `  API key     ${access.apiKey}`,
      `  User token  ${access.userToken}`,
      '',
      'Try:',
      '',
      `  curl -H 'Authorization: Bearer ${access.apiKey}' '${baseUrl}/v1/invoices?limit=2'`,
      '',
      'A webhook endpoint of the demo company fails, so that there is one to repair: the warning "webhook endpoint failing" is part of the demo.',
    );
  }
  return [...lines, '', 'The same is in .truckroll/ready.json, logs are in .truckroll/logs. Ctrl-C stops everything.', ''].join('\n');
}
