import type { Extra } from '../extra.ts'
import { whyRoutes } from './routes.ts'
import { Why } from './why.ts'

/** Explains why a user is refused: a real engine decides past requests again, with other rules. */
export const why: Extra = {
  begin({ quota, users, usage, adaptive: { factorStore }, clock }) {
    const why = new Why({ quota, users, usage, factorStore, clock })
    return { routes: whyRoutes(why, quota.policy) }
  },
}
