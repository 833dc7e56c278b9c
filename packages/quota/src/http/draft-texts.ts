import type { DecisionFrame } from '../decision/decide.ts'
import type { Decision } from '../decision/decision.ts'
import { type Counted, countedOf, frameOf } from '../decision/outcome.ts'
import type { Quotas } from '../policy/limits.ts'
import { NOT_OPEN } from '../windows/window.ts'

/** The two fields of draft-ietf-httpapi-ratelimit-headers-10. */
export interface DraftFields {
  /** `RateLimit-Policy`. */
  readonly policy: string
  /** `RateLimit`. */
  readonly limit: string
}

/** A limit that is told, and where its numbers stand in a state. */
interface ToldLimit {
  /** Its item of `RateLimit`, up to the tokens that remain. */
  readonly text: string
  readonly limit: number
  readonly lengthMs: number
  /** Place of its start; what it used is the next number. */
  readonly startAt: number
}

/**
 * The draft's fields of whatever is admitted under the same quotas, of rolling windows alone: `RateLimit-Policy` as it is,
 * and of `RateLimit` all that is no number of the request. They are written for every response.
 */
class DraftTexts {
  readonly frame: DecisionFrame
  readonly #policy: string
  readonly #told: readonly ToldLimit[]

  constructor(frame: DecisionFrame, told: readonly ToldLimit[], policy: string) {
    this.frame = frame
    this.#told = told
    this.#policy = policy
  }

  fieldsOf({ states, now }: Counted, more: number): DraftFields | null {
    const told = this.#told
    if (told.length === 0) return null
    let text = ''
    for (let index = 0; index < told.length; index++) {
      const { text: before, limit, lengthMs, startAt } = told[index]!
      const startedAt = states[startAt]!
      const item = before + remainingOf(limit, states[startAt + 1]! + more)
      text += index === 0 ? item : `, ${item}`
      if (startedAt !== NOT_OPEN) text += `;t=${Math.max(0, Math.ceil((startedAt + lengthMs - now) / 1000))}`
    }
    return { policy: this.#policy, limit: text }
  }
}

/** What a window has left that has used so much, and at least nothing. */
export function remainingOf(limit: number, used: number): number {
  return Math.max(0, limit - Math.max(0, used))
}

const texts = new WeakMap<Quotas, DraftTexts | null>()

/** The quotas last asked for, and theirs: most decisions of a process share them. */
let lastQuotas: Quotas | undefined
let last: DraftTexts | null = null

/**
 * The draft's fields of a decision, `null`: none; `undefined` where they have to be worked out from its windows.
 *
 * @param more tokens that were charged since, in every window; negative: that went back
 */
export function preparedFields(decision: Decision, more: number): DraftFields | null | undefined {
  if (!decision.allowed || decision.source !== 'store') return undefined
  const counted = countedOf(decision)
  if (counted === undefined) return undefined
  const frame = frameOf(decision)!
  const { quotas } = counted
  if (quotas !== lastQuotas) {
    last = textsOf(frame, counted)
    lastQuotas = quotas
  }
  return last !== null && last.frame === frame ? last.fieldsOf(counted, more) : undefined
}

function textsOf(frame: DecisionFrame, { quotas }: Counted): DraftTexts | null {
  let known = texts.get(quotas)
  if (known === undefined) {
    known = made(frame, quotas)
    texts.set(quotas, known)
  }
  return known
}

/** `null`: they have limits whose texts change with time, or that have no end. */
function made(frame: DecisionFrame, { layers, limits, shadowed }: Quotas): DraftTexts | null {
  const { layout } = frame
  const told: ToldLimit[] = []
  const policy: string[] = []
  for (const [slot, layer] of layers.entries()) {
    for (const cell of frame.shownAs[layer]!) {
      const { kind, label, lengthMs } = layout.cells[cell]!
      const at = layout.limitAt(slot, cell)
      const limit = limits[at]!
      if (shadowed?.[at] !== undefined || limit === Number.POSITIVE_INFINITY) continue
      if (kind !== 'rolling') return null
      const name = `"${frame.layers[layer]!.name}-${label}"`
      told.push({ text: `${name};r=`, limit, lengthMs, startAt: layout.cellAt(slot, cell) })
      policy.push(`${name};q=${limit};w=${Math.ceil(lengthMs / 1000)}`)
    }
  }
  return new DraftTexts(frame, told, policy.join(', '))
}
