import { calendar } from './kinds/calendar.ts'
import { concurrency } from './kinds/concurrency.ts'
import type { Kind, KindName } from './kinds/kind.ts'
import { rolling } from './kinds/rolling.ts'

/** Every kind of limit by its name. */
export const KINDS: Readonly<Record<KindName, Kind>> = { rolling, calendar, concurrency }
