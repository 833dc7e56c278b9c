/**
 * A black-box suite for rate limiters of any kind: five functions are its whole view of one.
 *
 * @module
 */
export type { TortureCase } from './torture/cases.ts'
export {
  NotOffered,
  type TortureAnswer,
  type TortureLimit,
  type TortureLimiter,
  type TortureLimits,
  type TortureRequest,
} from './torture/limiter.ts'
export {
  TORTURE_CASES,
  type TortureFinding,
  type TortureOptions,
  torture,
} from './torture/torture.ts'
