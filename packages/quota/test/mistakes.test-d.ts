import { it } from 'vitest'
import { createQuota, definePolicy, money } from '../src/index.ts'

const usd = money('USD')
const perMinute = { by: 'user', limit: 20, per: '1m' } as const

/** Each error is at the member that is wrong: the compiler reports a directive at any other line. */
it('mistakes in limits don’t compile, at their place', () => {
  createQuota({
    limits: {
      // @ts-expect-error no such member
      typo: { by: 'user', limit: 1, per: '1m', burts: 5 },
    },
  })
  createQuota({
    limits: {
      // @ts-expect-error no length of time
      spelled: { by: 'user', limit: 1, per: '1 minute' },
    },
  })
  createQuota({
    limits: {
      // @ts-expect-error lengths are text
      number: { by: 'user', limit: 1, per: 60_000 },
    },
  })
  createQuota({
    limits: {
      // @ts-expect-error no time
      never: { by: 'user', limit: 1 },
    },
  })
  createQuota({
    limits: {
      // @ts-expect-error two times
      twice: { by: 'user', limit: 1, per: '1m', every: 'day', timeZone: 'UTC' },
    },
  })
  createQuota({
    limits: {
      // @ts-expect-error of which zone
      zone: { by: 'user', limit: 1, every: 'day' },
    },
  })
  createQuota({
    limits: {
      // @ts-expect-error whose
      nobody: { limit: 1, per: '1m' },
    },
  })
  createQuota({
    limits: {
      // @ts-expect-error each subject’s own, or shared
      both: { by: 'user', shared: 'all', limit: 1, per: '1m' },
    },
  })
  createQuota({
    limits: {
      // @ts-expect-error a name
      keys: { by: ['user', 'model'], limit: 1, per: '1m' },
    },
  })
  createQuota({
    limits: {
      // @ts-expect-error a number
      text: { by: 'user', limit: '20', per: '1m' },
    },
  })
  createQuota({
    limits: {
      // @ts-expect-error money in a plain number
      budget: { by: 'user', limit: 100, of: usd, per: '1d' },
    },
  })
  createQuota({
    limits: {
      // @ts-expect-error money of tokens
      tokens: { by: 'user', limit: usd(1), of: 'tokens', per: '1d' },
    },
  })
  createQuota({
    limits: {
      // @ts-expect-error concurrency has no time
      running: { by: 'user', concurrency: 3, per: '1m' },
    },
  })
})

it('mistakes in names don’t compile, at their place', () => {
  createQuota({
    limits: {
      // @ts-expect-error no such operation or category
      writes: { by: 'user', limit: 1, per: '1m', for: 'wirte' },
    },
    operations: { save: { category: 'write' } },
  })
  createQuota({
    limits: {
      // @ts-expect-error no such operation
      running: { by: 'user', concurrency: 1, for: ['chatt'] },
    },
    operations: { chat: {} },
  })
  createQuota({
    limits: { perMinute, tokens: { by: 'user', limit: 9, of: 'tokens', per: '1h' } },
    operations: {
      // @ts-expect-error no such unit
      chat: { cost: { tokns: 5 } },
    },
  })
  createQuota({
    limits: { budget: { by: 'user', limit: usd(1), of: usd, per: '1d' } },
    operations: {
      // @ts-expect-error money in a plain number
      chat: { cost: { usd: 1 } },
    },
  })
  createQuota({
    limits: { perMinute },
    plans: {
      // @ts-expect-error no such limit
      pro: { perMinut: 3 },
    },
  })
  createQuota({
    limits: { perMinute },
    // @ts-expect-error no such layer
    titles: { usr: 'User' },
  })
  createQuota({
    limits: { perMinute },
    // @ts-expect-error no such layer
    planOf: 'team',
  })
  definePolicy({
    limits: { perMinute },
    // @ts-expect-error no such member
    windows: [],
  })
  definePolicy({
    limits: { perMinute },
    plans: {
      // @ts-expect-error no such limit
      pro: { b: 3 },
    },
  })
})

it('mistakes in calls don’t compile, at their place', () => {
  const quota = createQuota({
    limits: { perMinute, service: { shared: 'service', limit: 2, per: '1h' } },
    operations: { chat: {}, look: {} },
    plans: { pro: { perMinute: 3 } },
  })
  // @ts-expect-error no such operation
  void quota.consume({ subject: 'a', operation: 'chatt' })
  // @ts-expect-error the operation is missing, where there are two
  void quota.consume({ subject: 'a' })
  // @ts-expect-error no such limit
  void quota.consume({ subject: 'a', operation: 'chat', limits: { perMinut: 3 } })
  // @ts-expect-error no such plan
  void quota.consume({ subject: 'a', operation: 'chat', plan: 'prro' })
  // @ts-expect-error no such limit
  void quota.settings.update({ limits: { perMinut: 3 } })
  void quota.settings.update({ limits: { perMinute: { limit: 3, burst: 2 } }, plans: { pro: { perMinute: null } } })
  // @ts-expect-error a part of a number
  void quota.settings.update({ limits: { perMinute: { limit: 3 } } })
  // @ts-expect-error a part of a number
  void quota.subjects.set('a', { limits: { perMinute: {} } })
  // @ts-expect-error by name, not a list
  void quota.settings.update({ shadow: ['perMinute'] })
  // @ts-expect-error no such limit
  void quota.subjects.set('a', { limits: { perMinut: 50 } })
  // @ts-expect-error no such limit
  void quota.reset('a', { limits: ['perMinut'] })
})
