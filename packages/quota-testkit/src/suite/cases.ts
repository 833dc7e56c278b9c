import { BUCKET_CASES } from './bucket-cases.ts'
import { CALENDAR_CASES } from './calendar-cases.ts'
import { CLOCK_CASES } from './clock-cases.ts'
import { DECISION_CASES } from './decision-cases.ts'
import { EDIT_CASES } from './edit-cases.ts'
import { ENGINE_CASES } from './engine-cases.ts'
import { FAULT_CASES } from './fault-cases.ts'
import type { ConformanceCase } from './harness.ts'
import { HISTORY_CASES } from './history-cases.ts'
import { HOLD_CASES } from './hold-cases.ts'
import { HOLD_SETTLE_CASES } from './hold-settle-cases.ts'
import { ID_CASES } from './id-cases.ts'
import { KIND_CASES } from './kind-cases.ts'
import { REVISION_CASES } from './revision-cases.ts'
import { SET_CASES } from './set-cases.ts'
import { SLOTS_CASES } from './slots-cases.ts'
import { SUBJECT_CASES } from './subject-cases.ts'
import { UNIT_CASES } from './unit-cases.ts'

/** All conformance cases. Every case runs for every store. */
export const CONFORMANCE_CASES: readonly ConformanceCase[] = [
  ...DECISION_CASES,
  ...KIND_CASES,
  ...ID_CASES,
  ...SUBJECT_CASES,
  ...EDIT_CASES,
  ...REVISION_CASES,
  ...FAULT_CASES,
  ...CLOCK_CASES,
  ...CALENDAR_CASES,
  ...BUCKET_CASES,
  ...SLOTS_CASES,
  ...HOLD_CASES,
  ...HOLD_SETTLE_CASES,
  ...SET_CASES,
  ...UNIT_CASES,
  ...ENGINE_CASES,
  ...HISTORY_CASES,
]
