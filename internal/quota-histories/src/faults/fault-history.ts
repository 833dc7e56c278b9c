import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { type Policy, type Quota, QuotaError, type Reservation, type ReserveRequest } from '@scoregw/quota'
import { type Call, violationsOf } from './call.ts'

const CALLERS = 16
/** Between two attempts of one call, in milliseconds. */
const PAUSE_MS = 20

/** How long to wait for what the engine gives back, in milliseconds. */
const GIVEN_BACK_MS = 30_000

/** One limit of an hour for each subject. */
export function faultPolicy(limit: number): Policy<'take'> {
  return {
    windows: [{ label: '1h', lengthMs: 3_600_000 }],
    categories: ['all'],
    layers: [{ name: 'personal', scope: 'Personal', shared: false }],
    operations: { take: { category: 'all', cost: 1 } },
    base: { personal: { all: { '1h': limit } } },
  }
}

/**
 * Has a server fail and come back, while all callers go on.
 *
 * @param unanswered resolves when a call has had no answer
 */
export type Fault = (unanswered: Promise<void>) => Promise<unknown>

interface FaultHistoryOptions {
  /** Whom nothing has been charged yet. */
  readonly subject: string
  /** The limit of {@link faultPolicy}. */
  readonly limit: number
  /** Takes of all callers together. */
  readonly takes: number
  /** Whether every fourth take is cancelled when it is admitted. */
  readonly cancels: boolean
  /** Called when a third of the takes have begun. */
  readonly fault: Fault
}

interface FaultHistory {
  readonly calls: readonly Call[]
  /** Attempts without an answer. */
  readonly unanswered: number
  /**
   * Resolves to the tokens that all callers together have to be charged. What the engine gives back for want of an answer
   * may be on its way still: ask until the server agrees.
   */
  charged(): Promise<number>
}

/** A promise and what resolves it. */
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

function heard({ status, decision }: Reservation): Pick<Call, 'outcome' | 'used'> {
  assert(status !== 'expired', 'nothing here is a hold')
  return { outcome: OUTCOMES[status], used: decision?.windows[0]?.used ?? undefined }
}

/** Callers of one engine that repeat what had no answer until it has one. */
class Callers {
  readonly #quota: Quota
  readonly #options: FaultHistoryOptions
  readonly #calls: Call[] = []
  readonly #doubtful: ReserveRequest[] = []
  readonly #doubt = gate()
  readonly #third = gate()
  #unanswered = 0
  #instant = 0
  #begun = 0

  constructor(quota: Quota, options: FaultHistoryOptions) {
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

  /** Takes under an id; once the engine has withdrawn that, under another one. */
  async #take(take: number): Promise<Reservation> {
    for (let ids = 0; ; ids++) {
      const request = {
        subject: this.#options.subject,
        operation: 'take',
        id: `${this.#options.subject}: ${take}.${ids}`,
      }
      const reservation = await this.#call(() => this.#quota.reserve(request), heard)
      if (reservation.status === 'duplicate') this.#doubtful.push(request)
      if (reservation.status !== 'cancelled') return reservation
    }
  }

  /** How many attempts without an answer are charged. */
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

/** The history agrees with the server in the end, and no answer was wrong. */
async function check(quota: Quota, { calls, charged }: FaultHistory, subject: string, limit: number): Promise<void> {
  assert.deepEqual(violationsOf(calls, limit), [], subject)
  const until = performance.now() + GIVEN_BACK_MS
  for (;;) {
    const { windows } = await quota.status(subject)
    const [used, wanted] = [windows.all?.[0]?.used, await charged()]
    if (used === wanted) return
    assert(performance.now() < until, `${subject}: ${used} used, ${wanted} were admitted and kept`)
    await delay(PAUSE_MS)
  }
}

export interface FaultHistories {
  /** Histories, one after the other, each of a subject of its own; every second one cancels some of its takes. */
  readonly runs: number
  /** Of each history, by callers side by side; the limit is half of it. */
  readonly takes: number
  readonly fault: Fault
}

/**
 * Plays takes of many callers while the server fails and comes back, once in each history. A call without an answer is
 * made again under its id until it has one. Every answer is judged by what all callers saw, and so is the count in the
 * end.
 *
 * @param quota an engine of {@link faultPolicy} with half of the takes as its limit
 * @returns how many calls were answered, how many of them with a refusal, and how many attempts were not
 * @throws {AssertionError} at the first history with a wrong answer
 */
export async function runFaultHistories(
  quota: Quota,
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
