/** Text of deploy/helm/truckroll/components.json. */
export const chartComponents: string;
