import { pythonPrograms } from '../support/installed.ts';

/** The folder of the programs that make, check and run the Python client. */
export function pythonTools(): string {
  return pythonPrograms('httpx==0.28.1', 'datamodel-code-generator==0.89.0', 'mypy==2.4.1', 'pyright==1.1.414', 'twine==6.2.0');
}
