import { calendar } from './kinds/calendar.ts'
import { concurrency } from './kinds/concurrency.ts'
import type { Kind } from './kinds/kind.ts'
import { rolling } from './kinds/rolling.ts'

/**
 * What ends a limit's count: `rolling`, its length after its first request; `calendar`, the next period; `concurrency`, the
 * end of the work that holds its slots.
 */
export type KindName = 'rolling' | 'calendar' | 'concurrency'

/** Every kind of limit by its name. */
export const KINDS: Readonly<Record<KindName, Kind>> = { rolling, calendar, concurrency }
