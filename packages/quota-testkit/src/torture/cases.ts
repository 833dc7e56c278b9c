import assert from 'node:assert/strict'
import { NotOffered } from './limiter.ts'
import { CALLERS, SUBJECT, type TortureTrial } from './trial.ts'

const LIMIT = 10
/** Waits are whole seconds, rounded up. */
const SECOND_MS = 1_000
/** How long ended counters may stay, and how many rounds of requests come in this time. */
const LINGER_MS = 75_000
const ROUNDS = 5
/** Per ended subject, less may remain than the smallest object takes. */
const MOST_BYTES_A_SUBJECT = 16

type Play = <Limiter>(trial: TortureTrial<Limiter>) => Promise<void>

const neverAbove: Play = async ({ make, together, windowMs }) => {
  const limiter = await make([{ limit: LIMIT, windowMs }])
  const admitted = await together(limiter, CALLERS)
  assert.equal(admitted, LIMIT, `${admitted} of ${CALLERS} callers were admitted, and the limit is ${LIMIT}`)
}

const refusalIsFree: Play = async ({ make, consume, one, windowMs }) => {
  const limiter = await make([{ limit: LIMIT, windowMs }])
  const cost = LIMIT - 1
  assert.ok((await consume(limiter, { subject: SUBJECT, cost })).allowed, `a cost of ${cost} was refused at once`)
  const second = await consume(limiter, { subject: SUBJECT, cost })
  assert.ok(!second.allowed, `a cost of ${cost} was admitted twice under a limit of ${LIMIT}`)
  assert.ok((await one(limiter)).allowed, 'one token was left, and a refused request has used it up')
}

const allOrNone: Play = async ({ make, inTurn, advance, windowMs }) => {
  const [short, long] = [LIMIT / 2, LIMIT]
  const limiter = await make([
    { limit: short, windowMs },
    { limit: long, windowMs: 10 * windowMs },
  ])
  const first = await inTurn(limiter, 2 * LIMIT)
  assert.equal(first, short, `the first window admitted ${first}, and the shorter limit is ${short}`)
  await advance(windowMs + SECOND_MS)
  const second = await inTurn(limiter, LIMIT)
  const due = long - short
  assert.equal(second, due, `${due} of the longer limit were left for the second window, and ${second} were admitted`)
  // The longer limit refuses half a window before its end. That must not be charged to the shorter window, which lasts
  // longer.
  await advance(8 * windowMs + windowMs / 2 - SECOND_MS)
  await inTurn(limiter, LIMIT)
  await advance(windowMs / 2)
  const third = await inTurn(limiter, short)
  assert.equal(third, short, `the shorter limit refused ${short - third} for requests that the longer one had refused`)
}

const retryAfterIsTrue: Play = async ({ make, one, inTurn, advance, windowMs }) => {
  const limiter = await make([{ limit: LIMIT, windowMs }])
  await inTurn(limiter, LIMIT)
  for (let sent = 0; sent < LIMIT; sent++) await one(limiter, 'early')
  const { allowed, retryAfterMs } = await one(limiter)
  assert.ok(!allowed, `request ${LIMIT + 1} was admitted`)
  if (retryAfterMs === undefined) throw new NotOffered('refusals name no time to wait')
  assert.ok(retryAfterMs > 0, `the refusal names ${retryAfterMs} ms to wait`)
  const before = retryAfterMs - SECOND_MS - 1
  if (before > 0) await advance(before)
  const early = await one(limiter, 'early')
  assert.ok(before <= 0 || !early.allowed, `to wait ${retryAfterMs} ms was asked, and ${before} ms were enough`)
  await advance(retryAfterMs - Math.max(0, before))
  assert.ok((await one(limiter)).allowed, `refused again after the ${retryAfterMs} ms that were to be waited for`)
}

const retryIsFree: Play = async ({ make, retry, inTurn, windowMs }) => {
  const limiter = await make([{ limit: LIMIT, windowMs }])
  const send = () => retry(limiter, { subject: SUBJECT, cost: 1 }, 'order-1')
  const answers = [await send(), await send(), ...(await Promise.all([send(), send(), send(), send()]))]
  assert.ok(
    answers.every(({ allowed }) => allowed),
    'a retry of an admitted request was refused',
  )
  const left = await inTurn(limiter, LIMIT)
  assert.equal(left, LIMIT - 1, `a request and its five retries were charged ${LIMIT - left} times`)
}

const killedComesBack: Play = async ({ make, kill, one, advance, windowMs }) => {
  const longMs = 100 * windowMs
  const limiter = await make([{ limit: LIMIT, windowMs: longMs }])
  const backAfterMs = await kill(limiter, { subject: SUBJECT, cost: LIMIT })
  assert.ok(backAfterMs < longMs, `a reservation lasts ${backAfterMs} ms, longer than its window`)
  assert.ok(!(await one(limiter)).allowed, 'tokens that were reserved were given to another')
  await advance(backAfterMs + SECOND_MS)
  assert.ok((await one(limiter)).allowed, `what a killed caller had reserved is not back after ${backAfterMs} ms`)
}

const clockStepsBack: Play = async ({ make, one, inTurn, advance, windowMs }) => {
  const limiter = await make([{ limit: LIMIT, windowMs }])
  await inTurn(limiter, LIMIT)
  await advance(-10 * windowMs)
  assert.ok(!(await one(limiter)).allowed, 'a step back of the clock forgave what was used')
  await advance(windowMs + SECOND_MS)
  assert.ok((await one(limiter)).allowed, 'a window after the clock stepped back the subject is still locked out')
}

const clockIsPutRight: Play = async ({ make, one, inTurn, advance, windowMs }) => {
  const limiter = await make([{ limit: LIMIT, windowMs }])
  await advance(1_000 * windowMs)
  const admitted = await inTurn(limiter, LIMIT + 1)
  assert.equal(admitted, LIMIT, `${admitted} were admitted after a jump of the clock, and the limit is ${LIMIT}`)
  await advance(-1_000 * windowMs)
  await one(limiter)
  await advance(windowMs + SECOND_MS)
  assert.ok((await one(limiter)).allowed, 'a window after the clock was put right the subject is still locked out')
}

const neverBelowZero: Play = async ({ make, consume, inTurn, windowMs }) => {
  for (const cost of [-5, Number.NaN]) {
    const limiter = await make([{ limit: LIMIT, windowMs }])
    // A limiter without costs throws here.
    await consume(limiter, { subject: SUBJECT, cost: 2 })
    await consume(limiter, { subject: SUBJECT, cost }).catch(() => undefined)
    const more = await inTurn(limiter, 3 * LIMIT)
    assert.ok(more <= LIMIT - 2, `after a cost of 2 and one of ${cost}, ${more} more were admitted of ${LIMIT}`)
  }
}

const endedAreForgotten: Play = async ({ make, come, advance, bytes, windowMs, subjects }) => {
  const limiter = await make([{ limit: LIMIT, windowMs }])
  await come(limiter, CALLERS, () => SUBJECT)
  const before = await bytes()
  await come(limiter, subjects, (index) => `subject-${index}`)
  // Limiters delete by timers, after a delay, or a little with each request.
  for (let round = 0; round < ROUNDS; round++) {
    await advance(Math.max(windowMs, LINGER_MS / ROUNDS) + SECOND_MS)
    await come(limiter, subjects / ROUNDS, () => SUBJECT)
  }
  const each = ((await bytes()) - before) / subjects
  assert.ok(each < MOST_BYTES_A_SUBJECT, `${Math.round(each)} bytes are left of each of ${subjects} ended subjects`)
}

const liveAreKept: Play = async ({ make, inTurn, one, come, windowMs, subjects }) => {
  const limiter = await make([{ limit: LIMIT, windowMs: 100 * windowMs }])
  await inTurn(limiter, LIMIT)
  await come(limiter, subjects / 10, (index) => `subject-${index}`)
  assert.ok(!(await one(limiter)).allowed, `${subjects / 10} other subjects came, and a used-up limit was forgotten`)
}

const editUnderLoad: Play = async ({ make, inTurn, together, windowMs }) => {
  const [lowered, raised] = ['lowered', 'raised']
  const old = await make([{ limit: LIMIT, windowMs }])
  const used = LIMIT - 2
  await inTurn(old, used, lowered)
  await inTurn(old, used, raised)
  const lower = await make([{ limit: LIMIT / 2, windowMs }], old)
  const [byOld, byLower] = await Promise.all([together(old, CALLERS, lowered), together(lower, CALLERS, lowered)])
  assert.equal(byLower, 0, `${byLower} were admitted under a lowered limit that was used up`)
  assert.ok(byOld <= LIMIT - used, `${byOld} of ${LIMIT - used} were admitted under the old limit`)
  const more = await together(await make([{ limit: 2 * LIMIT, windowMs }], old), CALLERS, raised)
  const due = 2 * LIMIT - used
  assert.equal(more, due, `${more} were admitted under a raised limit of which ${due} were left`)
}

/** The name of a case: a promise that any limiter could make. */
export type TortureCase =
  | '64 callers at once use a limit up, and none passes it'
  | 'a refusal charges nothing'
  | 'what one of two limits refuses is charged in neither'
  | 'the same request is admitted after Retry-After, and not a moment before'
  | 'retries under an id are charged once'
  | "a killed caller's reservation comes back"
  | 'a clock that steps back forgives nothing and locks nobody out'
  | 'a clock that jumps and is put right locks nobody out'
  | 'no cost makes room'
  | 'subjects whose windows have ended are forgotten'
  | 'no other subject evicts a live counter'
  | 'a limit that is edited under load goes on from what was used'

export const CASES: Readonly<Record<TortureCase, Play>> = {
  '64 callers at once use a limit up, and none passes it': neverAbove,
  'a refusal charges nothing': refusalIsFree,
  'what one of two limits refuses is charged in neither': allOrNone,
  'the same request is admitted after Retry-After, and not a moment before': retryAfterIsTrue,
  'retries under an id are charged once': retryIsFree,
  "a killed caller's reservation comes back": killedComesBack,
  'a clock that steps back forgives nothing and locks nobody out': clockStepsBack,
  'a clock that jumps and is put right locks nobody out': clockIsPutRight,
  'no cost makes room': neverBelowZero,
  'subjects whose windows have ended are forgotten': endedAreForgotten,
  'no other subject evicts a live counter': liveAreKept,
  'a limit that is edited under load goes on from what was used': editUnderLoad,
}
