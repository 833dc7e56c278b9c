import { BOUND_CASES } from './bound-cases.ts'
import { CLOCK_CASES } from './clock-cases.ts'
import { DAMAGE_CASES } from './damage-cases.ts'
import { DEADLINE_CASES } from './deadline-cases.ts'
import { DECISION_CASES } from './decision-cases.ts'
import { EDIT_CASES } from './edit-cases.ts'
import { ENGINE_CASES } from './engine-cases.ts'
import { ENGINE_EDIT_CASES } from './engine-edit-cases.ts'
import type { ConformanceCase } from './harness.ts'
import { ID_CASES } from './id-cases.ts'
import { REVISION_CASES } from './revision-cases.ts'
import { ROLLING_CASES } from './rolling-cases.ts'
import { ROLLING_ID_CASES } from './rolling-id-cases.ts'
import { SETTLE_CASES } from './settle-cases.ts'
import { SUBJECT_CASES } from './subject-cases.ts'
import { WINDOW_CASES } from './window-cases.ts'

/** Everything that a store has to do, one case each. All of them run for every store. */
export const CONFORMANCE_CASES: readonly ConformanceCase[] = [
  ...DECISION_CASES,
  ...WINDOW_CASES,
  ...SETTLE_CASES,
  ...ID_CASES,
  ...SUBJECT_CASES,
  ...EDIT_CASES,
  ...ROLLING_CASES,
  ...ROLLING_ID_CASES,
  ...REVISION_CASES,
  ...DAMAGE_CASES,
  ...DEADLINE_CASES,
  ...CLOCK_CASES,
  ...BOUND_CASES,
  ...ENGINE_CASES,
  ...ENGINE_EDIT_CASES,
]
