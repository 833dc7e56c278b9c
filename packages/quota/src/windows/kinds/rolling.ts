import { NOT_OPEN, type RollingWindow } from '../window.ts'
import { type Kind, parsedLength } from './kind.ts'

/** A window that opens with the first admitted request and ends `lengthMs` later. */
export const rolling: Kind = {
  isWindow: true,
  after: (lengthMs, now) => now - lengthMs,
  opensAt: (now) => now,
  lasting: (lengthMs, startedAt) => ({ lengthMs, endsAt: startedAt === NOT_OPEN ? undefined : startedAt + lengthMs }),
  lengthOf: parsedLength,
}

/** What stands behind kind and label in the identity. */
export function rollingRule({ lengthMs }: RollingWindow): { readonly lengthMs: number; readonly text: string } {
  return { lengthMs, text: String(lengthMs) }
}
