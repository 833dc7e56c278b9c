import type { Extra } from '../extra.ts'
import { ownUsageRoutes } from './routes.ts'

/** Lets users read the outcomes of their own requests. */
export const usage: Extra = {
  begin: ({ usage, clock }) => ({ routes: ownUsageRoutes({ ...usage, clock }) }),
}
