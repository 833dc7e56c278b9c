import type { Extra } from '../extra.ts'
import { ownUsageRoutes } from './routes.ts'

/** Users read how their own requests ended. */
export const usage: Extra = {
  begin: ({ usage, clock }) => ({ routes: ownUsageRoutes({ ...usage, clock }) }),
}
