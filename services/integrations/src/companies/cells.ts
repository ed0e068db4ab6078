import { ApiError, refused } from '@truckroll/contract';
import type { DescribeCellRequest, DescribeCellResponse, SwitchCompanyRequest, SwitchCompanyResponse } from '@truckroll/contract/gen/integrations/v1/cells';
import { isCellName } from '@truckroll/grpc';
import { readBuild } from '@truckroll/telemetry';
import { lockCompany } from './store.ts';
import type { Context } from '../context.ts';
import { forgetCompany } from '../identity/pending.ts';
import { checked } from '../requests.ts';
import { inWords, lockPlace, selectMoving, selectPlaces, setPlace } from './places.ts';
import { selectSlots } from './slots.ts';

async function describe({ database, cell }: Context, _: DescribeCellRequest): Promise<DescribeCellResponse> {
  const [slots, moving] = [await selectSlots(database), await selectMoving(database)];
  return { cell: cell ?? null, version: readBuild(process.env).version, ...(await selectPlaces(database)), slots, moving };
}

/** Has gateways look again even if nothing changes, because a repeated call may be one whose message was not sent. */
async function switchCompany({ invalidations, cell: own }: Context, request: SwitchCompanyRequest): Promise<SwitchCompanyResponse> {
  const { company_id: id, from = null, to = null } = checked('SwitchCompanyRequest', request);
  if (own === undefined) throw new ApiError('INVALID_REQUEST', 'This installation has no name: set CELL of integrations.', { status: 409 });
  for (const [field, name] of Object.entries({ from, to })) if (name !== null && !isCellName(name)) throw refused(field, 'This is no name of a cell.');
  return await invalidations.commit(async (tx) => {
    const known = await lockPlace(tx, id);
    const place = known === undefined ? own : known;
    if (place !== to) {
      if (place !== from) throw new ApiError('INVALID_REQUEST', `The company ${inWords(place)}, as far as the cell ${own} knows.`, { status: 409 });
      // A company is only served by a cell that has its rows. One that only knows where it lives may learn that it is being switched.
      if ((to === own || (to === null && known === undefined)) && (await lockCompany(tx, id)) === undefined)
        throw new ApiError('NOT_FOUND', `The cell ${own} has no rows of this company.`);
      await setPlace(tx, id, to === own ? undefined : to);
    }
    return { answer: {}, pending: await forgetCompany(tx, id) };
  });
}

export const cellAdmin = { describeCell: describe, switchCompany };
