import { observeOutcomes } from '../../usage/observe-metered.ts'
import type { Extra } from '../extra.ts'
import { LiveOverview } from './live-overview.ts'
import { Overview } from './overview.ts'
import { overviewRoutes } from './routes.ts'

/** Figures for administrators, sent every second. */
export const overview: Extra = {
  begin({ quota, clock, adaptive: { outcomes, recorder } }, before) {
    const members = before.flatMap(({ overview = [] }) => overview)
    const overview = new Overview({ quota, clock, outcomes, recorder, members })
    const live = new LiveOverview(() => overview.read(), clock)
    return {
      routes: overviewRoutes(overview, live, members),
      chores: [live.chore],
      observe: observeOutcomes(overview),
      refuse: () => live.end(),
      close: async () => overview.close(),
    }
  },
}
