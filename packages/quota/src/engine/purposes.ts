import type { Decision } from '../decision/decision.ts'
import { isFree } from '../policy/units.ts'
import { NO_KEY } from './decide/check.ts'
import type { TakeDemand } from './decide/demands.ts'
import type { Purpose } from './decide/takes.ts'
import type { Run } from './decide/task.ts'
import type { EngineComponents } from './engine-components.ts'
import type { QuotaRequest, Reservation, ReserveRequest } from './requests.ts'
import { refusedReservation } from './reservations/handle.ts'

/** Makes a decision of each request, and charges it. */
export function consumption({
  check,
  live,
  demands,
  reports,
  decisions,
}: EngineComponents): Purpose<QuotaRequest, Decision> {
  return {
    demand(request) {
      const operation = check.operation(request, live.compiled)
      check.consumable(operation, request)
      return demands.of(request, operation, NO_KEY, reports.start())
    },
    free(demand) {
      const blocked = decisions.refuseBlocked(demand)
      if (blocked !== undefined) return blocked
      return isFree(demand.price) && isKnown(demand) ? decisions.free(demand) : undefined
    },
    of: (demand, reply) =>
      reply.outcome === 'failed' && live.loaded && isFree(demand.price)
        ? decisions.free(demand)
        : decisions.of(demand, reply),
  }
}

/** Makes a reservation of each request. @param run how the handle's calls return */
export function reservation(components: EngineComponents, run: Run): Purpose<ReserveRequest, Reservation> {
  const { check, live, demands, reports, decisions, reservations } = components
  return {
    demand(request) {
      const operation = check.operation(request, live.compiled)
      return demands.of(request, operation, check.key(request, operation), reports.start())
    },
    // The store must see requests with an id, even if they are free.
    free(demand) {
      const blocked = decisions.refuseBlocked(demand)
      if (blocked !== undefined) return refusedReservation(run, blocked)
      return isUncounted(demand) && isKnown(demand) ? reservations.free(demand, run) : undefined
    },
    of: (demand, reply) =>
      reply.outcome === 'failed' && live.loaded && isUncounted(demand)
        ? reservations.free(demand, run)
        : reservations.of(demand, reply, run),
  }
}

/** Whether nothing of a reservation has to be stored. */
function isUncounted({ price, id }: TakeDemand): boolean {
  return isFree(price) && id === undefined
}

/** Whether it is known if the subject is blocked, or can't be known. */
function isKnown({ hasSubjectSettings, settingsError }: TakeDemand): boolean {
  return hasSubjectSettings || settingsError !== undefined
}
