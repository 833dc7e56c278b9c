import assert from 'node:assert/strict'
import type { TortureAnswer, TortureLimiter, TortureRequest } from './limiter.ts'

/** The context of a case. */
export interface TortureTrial<Limiter> extends TortureLimiter<Limiter>, TrialOptions {
  /** Sends one request of one token. */
  one(limiter: Limiter, subject?: string): Promise<TortureAnswer>
  /** Sends requests of one token at the same time. Returns how many were admitted. */
  together(limiter: Limiter, callers: number, subject?: string): Promise<number>
  /** Sends requests of one token, {@link CALLERS} at a time. `subjectOf` maps a request's number to its subject. */
  come(limiter: Limiter, requests: number, subjectOf: (index: number) => string): Promise<void>
  /** Sends requests of one token one after the other. Returns how many were admitted. */
  inTurn(limiter: Limiter, requests: number, subject?: string): Promise<number>
}

/** How many requests are sent at the same time. */
export const CALLERS = 64
/** The subject of most cases. */
export const SUBJECT = 'ann'

export interface TrialOptions {
  /** The length of the shortest window, in milliseconds. */
  readonly windowMs: number
  /** The number of subjects in the cases about memory. */
  readonly subjects: number
  /** Returns the bytes that counters use. */
  bytes(): Promise<number>
}

/** Returns the limiter, with each of its responses checked. */
export function trialOf<Limiter>(
  limiter: TortureLimiter<Limiter>,
  { windowMs, subjects, bytes }: TrialOptions,
): TortureTrial<Limiter> {
  async function consume(instance: Limiter, request: TortureRequest): Promise<TortureAnswer> {
    return checked(await limiter.consume(instance, request))
  }
  const one = (instance: Limiter, subject = SUBJECT) => consume(instance, { subject, cost: 1 })
  return {
    make: (limits, over) => limiter.make(limits, over),
    consume,
    retry: async (instance, request, id) => checked(await limiter.retry(instance, request, id)),
    kill: (instance, request) => limiter.kill(instance, request),
    advance: (ms) => limiter.advance(ms),
    windowMs,
    subjects,
    bytes,
    one,
    async together(instance, callers, subject) {
      const answers = await Promise.all(Array.from({ length: callers }, () => one(instance, subject)))
      return answers.filter(({ allowed }) => allowed).length
    },
    async come(instance, requests, subjectOf) {
      for (let from = 0; from < requests; from += CALLERS) {
        const size = Math.min(CALLERS, requests - from)
        await Promise.all(Array.from({ length: size }, (_, index) => one(instance, subjectOf(from + index))))
      }
    },
    async inTurn(instance, requests, subject) {
      let admitted = 0
      for (let sent = 0; sent < requests; sent++) if ((await one(instance, subject)).allowed) admitted++
      return admitted
    },
  }
}

function checked(answer: TortureAnswer): TortureAnswer {
  const { allowed, remaining = 0 } = answer
  assert.equal(typeof allowed, 'boolean', `consume: expected \`allowed\` to be true or false, got ${allowed}`)
  assert.ok(remaining >= 0, `${remaining} tokens are reported as left`)
  return answer
}
