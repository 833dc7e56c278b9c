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
  /** The item of `RateLimit` that follows, up to the tokens that remain, with what parts the two. */
  readonly next: string
  readonly limit: number
  readonly lengthMs: number
  /** Place of its start; what it used is the next number. */
  readonly startAt: number
  /** Seconds that were told last, and their text with {@link next}: most windows told one after the other end in the same. */
  seconds: number
  ending: string
}

/**
 * The draft's fields of whatever is admitted under the same quotas, of rolling windows alone: `RateLimit-Policy` as it is,
 * and of `RateLimit` all that is no number of the request. They are written for every response.
 */
class DraftTexts {
  readonly frame: DecisionFrame
  readonly #policy: string
  /** The item that comes first, up to the tokens that remain. */
  readonly #first: string
  readonly #told: readonly ToldLimit[]

  constructor(frame: DecisionFrame, first: string, told: readonly ToldLimit[], policy: string) {
    this.frame = frame
    this.#first = first
    this.#told = told
    this.#policy = policy
  }

  fieldsOf({ states, now }: Counted, more: number): DraftFields | null {
    const told = this.#told
    if (told.length === 0) return null
    let text = this.#first
    for (const item of told) {
      const startedAt = states[item.startAt]!
      const remaining = remainingOf(item.limit, states[item.startAt + 1]! + more)
      const ending =
        startedAt === NOT_OPEN
          ? item.next
          : endingIn(item, Math.max(0, Math.ceil((startedAt + item.lengthMs - now) / 1000)))
      text += remaining + ending
    }
    return { policy: this.#policy, limit: text }
  }
}

function endingIn(item: ToldLimit, seconds: number): string {
  if (item.seconds !== seconds) {
    item.seconds = seconds
    item.ending = `;t=${seconds}${item.next}`
  }
  return item.ending
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
function made(frame: DecisionFrame, { layers, limits }: Quotas): DraftTexts | null {
  const { layout } = frame
  const told: Omit<ToldLimit, 'next'>[] = []
  const names: string[] = []
  const policy: string[] = []
  for (const [slot, layer] of layers.entries()) {
    for (const cell of frame.shownAs[layer]!) {
      const { kind, label, lengthMs } = layout.cells[cell]!
      const at = layout.limitAt(slot, cell)
      const limit = limits[at]!
      // As shadowed ones are: they are told to nobody.
      if (limit === Number.POSITIVE_INFINITY) continue
      if (kind !== 'rolling') return null
      const name = `"${frame.layers[layer]!.name}-${label}"`
      names.push(name)
      told.push({ limit, lengthMs, startAt: layout.cellAt(slot, cell), seconds: -1, ending: '' })
      policy.push(`${name};q=${limit};w=${Math.ceil(lengthMs / 1000)}`)
    }
  }
  const parted = told.map((item, at) => ({ ...item, next: at + 1 < names.length ? `, ${names[at + 1]};r=` : '' }))
  return new DraftTexts(frame, `${names[0]};r=`, parted, policy.join(', '))
}
