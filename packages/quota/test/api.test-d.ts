import { expectTypeOf, it } from 'vitest'
import { createQuota, type Decision, defaultPolicy, type RefusedDecision, type SyncQuota } from '../src/index.ts'

const quota = createQuota({
  policy: defaultPolicy({ operations: { 'music.upsert': { category: 'write', cost: 15 } } }),
})

it('operation names are those of the policy', () => {
  expectTypeOf(quota).toEqualTypeOf<SyncQuota<'music.upsert'>>()
  expectTypeOf(quota.consumeSync).parameter(0).toHaveProperty('operation').toEqualTypeOf<'music.upsert'>()
  // @ts-expect-error there is no such operation
  void quota.consume({ subject: 'u', operation: 'music.delete' })
  expectTypeOf(createQuota({ policy: defaultPolicy() })).toEqualTypeOf<SyncQuota<'read' | 'write'>>()
})

it('categories of the default policy are read and write', () => {
  // @ts-expect-error there is no such category
  defaultPolicy({ operations: { go: { category: 'air', cost: 1 } } })
})

it('a decision that is not allowed says why', () => {
  const decision = quota.consumeSync({ subject: 'u', operation: 'music.upsert' })
  expectTypeOf(decision).toEqualTypeOf<Decision>()
  if (!decision.allowed) expectTypeOf(decision).toEqualTypeOf<RefusedDecision>()
})

it('a repeated reservation has no decision to look at', async () => {
  const reservation = await quota.reserve({ subject: 'u', operation: 'music.upsert', id: 'x' })
  if (reservation.status === 'duplicate') expectTypeOf(reservation.decision).toEqualTypeOf<undefined>()
  if (reservation.status === 'reserved') expectTypeOf(reservation.commit).toEqualTypeOf<(n?: number) => Promise<void>>()
})

it('run gives back what the work gave', async () => {
  const result = await quota.run({ subject: 'u', operation: 'music.upsert' }, () => 5)
  if (result.allowed) expectTypeOf(result.value).toEqualTypeOf<number>()
})
