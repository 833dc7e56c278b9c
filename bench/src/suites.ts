import { cluster } from './cluster/suite.ts'
import { http } from './http/suite.ts'
import { memory } from './memory/suite.ts'
import { redis } from './redis/suite.ts'
import type { Findings } from './report.ts'
import { sync } from './sync/suite.ts'

/** Measures, and prints what it measures. `quick`: only whether it runs, too short for figures that say anything. */
export type Suite = (quick: boolean) => Promise<Findings>

/** Every suite by its name on the command line. */
export const suites: Readonly<Record<string, Suite>> = { cluster, http, memory, redis, sync }
