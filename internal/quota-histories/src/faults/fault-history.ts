import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { definePolicy, type OneUnit, type Policy, type Quota, QuotaError, type Reservation } from '@scoregw/quota'
import { type Call, violationsOf } from './call.ts'

const CALLERS = 16
/** The pause between two attempts of one call, in milliseconds. */
const PAUSE_MS = 20

/** How long to wait for the engine's refunds, in milliseconds. */
const GIVEN_BACK_MS = 30_000

/** A limit per hour and subject. */
export function faultPolicy(limit: number): Policy<'take', OneUnit> {
  const policy = definePolicy({ limits: { perHour: { by: 'user', limit, per: '1h' } }, operations: { take: {} } })
  return policy
}

/** An engine of {@link faultPolicy}. */
export type FaultQuota = Quota<'take', OneUnit>

/**
 * Makes a server fail and return while all callers continue.
 *
 * @param unanswered resolves when a call got no answer
 */
export type Fault = (unanswered: Promise<void>) => Promise<unknown>

interface FaultHistoryOptions {
  /** A subject without charges. */
  readonly subject: string
  /** The limit of {@link faultPolicy}. */
  readonly limit: number
  /** How many takes all callers make together. */
  readonly takes: number
  /** Whether every fourth take is cancelled after its admission. */
  readonly cancels: boolean
  /** Called when a third of the takes have begun. */
  readonly fault: Fault
}

interface FaultHistory {
  readonly calls: readonly Call[]
  /** How many attempts got no answer. */
  readonly unanswered: number
  /**
   * Resolves to the tokens that the server should have charged for all callers together. Refunds of unanswered attempts
   * may still be on their way, so call it until the server agrees.
   */
  charged(): Promise<number>
}

/** A promise, and the function that resolves it. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

const OUTCOMES = {
  reserved: 'admitted',
  refused: 'refused',
  cancelled: 'withdrawn',
  duplicate: 'doubtful',
} as const

function resultOf({ status, decision }: Reservation): Pick<Call, 'outcome' | 'used'> {
  assert(status !== 'expired', 'nothing here is a hold')
  return { outcome: OUTCOMES[status], used: decision?.limits.perHour?.used ?? undefined }
}

interface TakeRequest {
  readonly subject: string
  readonly operation: 'take'
  readonly id: string
}

/** Callers of one engine that repeat a call until it is answered. */
class Callers {
  readonly #quota: FaultQuota
  readonly #options: FaultHistoryOptions
  readonly #calls: Call[] = []
  readonly #doubtful: TakeRequest[] = []
  readonly #doubt = gate()
  readonly #third = gate()
  #unanswered = 0
  #instant = 0
  #begun = 0

  constructor(quota: FaultQuota, options: FaultHistoryOptions) {
    this.#quota = quota
    this.#options = options
  }

  async play(): Promise<FaultHistory> {
    const { fault } = this.#options
    const failing = this.#third.opened.then(() => fault(this.#doubt.opened))
    await Promise.all([failing, ...Array.from({ length: CALLERS }, () => this.#work())])
    const calls = this.#calls
    const counted = (of: Call['outcome']): number => calls.filter(({ outcome }) => outcome === of).length
    const charged = async (): Promise<number> =>
      counted('admitted') - counted('cancelled') + (await this.#stillCharged())
    return { calls, unanswered: this.#unanswered, charged }
  }

  async #work(): Promise<void> {
    const { takes, cancels } = this.#options
    while (this.#begun < takes) {
      const take = this.#begun++
      const reservation = await this.#take(take)
      if (cancels && take % 4 === 0 && reservation?.status === 'reserved') {
        await this.#call(
          () => reservation.cancel(),
          () => ({ outcome: 'cancelled' }),
        )
      }
      if (this.#begun > takes / 3) this.#third.open()
    }
  }

  /** Takes under an id, or under another one after the engine withdrew it. */
  async #take(take: number): Promise<Reservation> {
    for (let ids = 0; ; ids++) {
      const request = {
        subject: this.#options.subject,
        operation: 'take' as const,
        id: `${this.#options.subject}: ${take}.${ids}`,
      }
      const reservation = await this.#call(() => this.#quota.reserve(request), resultOf)
      if (reservation.status === 'duplicate') this.#doubtful.push(request)
      if (reservation.status !== 'cancelled') return reservation
    }
  }

  /** How many unanswered attempts are charged. */
  async #stillCharged(): Promise<number> {
    const again = this.#doubtful.map((request) => this.#answer(() => this.#quota.reserve(request)))
    return (await Promise.all(again)).filter(({ status }) => status === 'duplicate').length
  }

  async #call<T>(attempt: () => Promise<T>, came: (answer: T) => Pick<Call, 'outcome' | 'used'>): Promise<T> {
    const from = ++this.#instant
    const answer = await this.#answer(attempt)
    this.#calls.push({ from, until: ++this.#instant, ...came(answer) })
    return answer
  }

  async #answer<T>(attempt: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await attempt()
      } catch (error) {
        if (!(error instanceof QuotaError && error.code === 'quota_unavailable')) throw error
        this.#unanswered++
        this.#doubt.open()
        await delay(PAUSE_MS)
      }
    }
  }
}

/** Checks that the history finally agrees with the server, and that no answer was wrong. */
async function check(
  quota: FaultQuota,
  { calls, charged }: FaultHistory,
  subject: string,
  limit: number,
): Promise<void> {
  assert.deepEqual(violationsOf(calls, limit), [], subject)
  const until = performance.now() + GIVEN_BACK_MS
  for (;;) {
    const { limits } = await quota.status(subject)
    const [used, wanted] = [limits.perHour?.used, await charged()]
    if (used === wanted) return
    assert(performance.now() < until, `${subject}: ${used} used, ${wanted} were admitted and kept`)
    await delay(PAUSE_MS)
  }
}

export interface FaultHistories {
  /** The number of histories. They run in turn, each for a new subject; every second one cancels some takes. */
  readonly runs: number
  /** The takes in each history, by concurrent callers. The limit is half as many. */
  readonly takes: number
  readonly fault: Fault
}

/**
 * Plays takes of many callers while the server fails and returns once per history. An unanswered call is repeated under
 * its id until it is answered. Every answer, and the final count, is judged by what all callers saw.
 *
 * @param quota an engine of {@link faultPolicy} with half of the takes as its limit
 * @returns how many calls were answered, how many of those were refused, and how many attempts got no answer
 * @throws {AssertionError} at the first history with a wrong answer
 */
export async function runFaultHistories(
  quota: FaultQuota,
  { runs, takes, fault }: FaultHistories,
): Promise<{ calls: number; refused: number; unanswered: number }> {
  const sum = { calls: 0, refused: 0, unanswered: 0 }
  const limit = takes / 2
  for (let run = 0; run < runs; run++) {
    const subject = `history ${run}`
    const history = await new Callers(quota, { subject, limit, takes, cancels: run % 2 === 1, fault }).play()
    await check(quota, history, subject, limit)
    sum.calls += history.calls.length
    sum.refused += history.calls.filter(({ outcome }) => outcome === 'refused').length
    sum.unanswered += history.unanswered
  }
  return sum
}
