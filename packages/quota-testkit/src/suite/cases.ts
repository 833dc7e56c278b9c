import { BOUND_CASES } from './bound-cases.ts'
import { BUCKET_CASES } from './bucket-cases.ts'
import { CALENDAR_CASES } from './calendar-cases.ts'
import { CLOCK_CASES } from './clock-cases.ts'
import { DAMAGE_CASES } from './damage-cases.ts'
import { DEADLINE_CASES } from './deadline-cases.ts'
import { DECISION_CASES } from './decision-cases.ts'
import { EDIT_CASES } from './edit-cases.ts'
import { ENGINE_CASES } from './engine-cases.ts'
import { ENGINE_KIND_CASES } from './engine-kind-cases.ts'
import { ENGINE_NAME_CASES } from './engine-name-cases.ts'
import { ENGINE_UNIT_CASES } from './engine-unit-cases.ts'
import type { ConformanceCase } from './harness.ts'
import { HISTORY_CASES } from './history-cases.ts'
import { HOLD_CASES } from './hold-cases.ts'
import { HOLD_GROWTH_CASES } from './hold-growth-cases.ts'
import { HOLD_ID_CASES } from './hold-id-cases.ts'
import { HOLD_SETTLE_CASES } from './hold-settle-cases.ts'
import { ID_CASES } from './id-cases.ts'
import { KIND_CASES } from './kind-cases.ts'
import { type ContextCase, onHarness } from './old-case.ts'
import { REVISION_CASES } from './revision-cases.ts'
import { SET_CASES, SET_HOLD_CASES } from './set-cases.ts'
import { SLOTS_CASES } from './slots-cases.ts'
import { SUBJECT_CASES } from './subject-cases.ts'
import { UNIT_CASES } from './unit-cases.ts'

const CASES: readonly ContextCase[] = [
  ...DECISION_CASES,
  ...KIND_CASES,
  ...ID_CASES,
  ...SUBJECT_CASES,
  ...EDIT_CASES,
  ...REVISION_CASES,
  ...DAMAGE_CASES,
  ...DEADLINE_CASES,
  ...CLOCK_CASES,
  ...BOUND_CASES,
  ...CALENDAR_CASES,
  ...BUCKET_CASES,
  ...SLOTS_CASES,
  ...HOLD_CASES,
  ...HOLD_GROWTH_CASES,
  ...HOLD_SETTLE_CASES,
  ...HOLD_ID_CASES,
  ...SET_CASES,
  ...SET_HOLD_CASES,
  ...UNIT_CASES,
  ...ENGINE_CASES,
  ...ENGINE_KIND_CASES,
  ...ENGINE_UNIT_CASES,
  ...ENGINE_NAME_CASES,
  ...HISTORY_CASES,
]

/** All conformance cases. Every case runs for every store. */
export const CONFORMANCE_CASES: readonly ConformanceCase[] = CASES.map(onHarness)
