import { cluster } from './cluster/suite.ts'
import { gateway } from './gateway/suite.ts'
import { hostile } from './hostile/suite.ts'
import { http } from './http/suite.ts'
import { instructions } from './instructions/suite.ts'
import { memory } from './memory/suite.ts'
import { redis } from './redis/suite.ts'
import type { Findings } from './report.ts'
import { scale } from './scale/suite.ts'
import { simulate } from './simulate/suite.ts'
import { sql } from './sql/suite.ts'
import { sync } from './sync/suite.ts'

/**
 * Measures, and prints what it measures. `quick`: only whether it runs, too short for figures that say anything. `full`:
 * with as much stored as the suite knows of, which may take many minutes.
 */
export type Suite = (quick: boolean, full: boolean) => Promise<Findings>

/** Every suite by its name on the command line. */
export const suites: Readonly<Record<string, Suite>> = {
  cluster,
  gateway,
  hostile,
  http,
  instructions,
  memory,
  redis,
  scale,
  simulate,
  sql,
  sync,
}
