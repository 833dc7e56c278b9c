import { expectTypeOf, it } from 'vitest'
import { type CommitResult, createQuota, type Decision, type RefusedDecision } from '../src/index.ts'
import { scoreGatewayPolicy } from '../src/score-gateway.ts'
import type { QuotaStore } from '../src/store.ts'

const policy = scoreGatewayPolicy({ operations: { 'music.upsert': { category: 'write', cost: 15 } } })
type Counted = NonNullable<typeof policy.counting>

const quota = createQuota({ policy })

it('operation names are the policy’s', () => {
  void quota.consume({ subject: 'u', operation: 'music.upsert' })
  // @ts-expect-error there is no such operation
  void quota.consume({ subject: 'u', operation: 'music.delete' })
  // @ts-expect-error there is no such category
  scoreGatewayPolicy({ operations: { go: { category: 'air', cost: 1 } } })
})

it('a refused decision has the reason', () => {
  const decision = quota.consumeSync({ subject: 'u', operation: 'music.upsert' })
  expectTypeOf(decision).toEqualTypeOf<Decision<Counted>>()
  if (!decision.allowed) expectTypeOf(decision).toEqualTypeOf<RefusedDecision<Counted>>()
})

it('a repeated reservation has no decision', async () => {
  const reservation = await quota.reserve({ subject: 'u', operation: 'music.upsert', id: 'x' })
  if (reservation.status === 'duplicate') expectTypeOf(reservation.decision).toEqualTypeOf<undefined>()
  if (reservation.status === 'reserved')
    expectTypeOf(reservation.commit).returns.toEqualTypeOf<Promise<CommitResult<Counted>>>()
})

it('run() returns what the work returned', async () => {
  const result = await quota.run({ subject: 'u', operation: 'music.upsert' }, () => 5)
  if (result.allowed) expectTypeOf(result.value).toEqualTypeOf<number>()
})

it('requests to an engine with one operation may leave it out', () => {
  const one = createQuota({ limits: { api: { by: 'user', limit: 100, per: '15m' } } })
  void one.consume({ subject: 'u' })
  void one.run({ subject: 'u', cost: 2 }, () => 1)
  one.consumeSync({ subject: 'u', operation: 'request' })
  // @ts-expect-error there is no such operation
  void one.consume({ subject: 'u', operation: 'read' })
  const later = createQuota({ limits: { api: { by: 'user', limit: 1, per: '1s' } }, store: {} as QuotaStore })
  expectTypeOf(later).not.toHaveProperty('consumeSync')
  const two = createQuota({ limits: { api: { by: 'user', limit: 1, per: '1s' } }, operations: { a: {}, b: {} } })
  // @ts-expect-error engines with several need to know the operation
  void two.consume({ subject: 'u' })
})
