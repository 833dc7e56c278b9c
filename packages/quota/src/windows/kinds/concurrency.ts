import { ALWAYS_OPEN, type Kind } from './kind.ts'

/** Slots: how much work is under way. Nothing but the end of a hold gives one back: no time, no reset, no clock. */
export const concurrency: Kind = {
  isWindow: false,
  after: () => ALWAYS_OPEN,
  opensAt: (now) => now,
  lasting: () => ({ lengthMs: null, endsAt: undefined }),
  lengthOf: (rest) => (rest === '' ? Number.POSITIVE_INFINITY : undefined),
}
