import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { slowTests, testSeed } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { createQuota, definePolicy, memoryStore } from '../src/index.ts'
import { topSubjects } from '../src/top.ts'
import { randomFrom } from './adaptive/random.ts'
import { flatLimits, gateway, gatewayPolicy, HOUR } from './support.ts'

const MINUTE = 60_000

function counted(periodMs = HOUR) {
  const { quota, clock } = gateway({ policy: gatewayPolicy(flatLimits(1_000_000, 1_000_000_000)) })
  const top = topSubjects({ quota, periodMs, clock })
  const spend = (subject: string, cost: number): void => {
    quota.consumeSync({ subject, operation: 'write', cost })
  }
  return { quota, clock, top, spend }
}

describe('top subjects', () => {
  it('top subjects are those with the most spent and the most refused, by category', () => {
    const { quota, top, spend } = counted()
    spend('a', 3)
    spend('b', 5)
    spend('a', 4)
    quota.consumeSync({ subject: 'c', operation: 'read', cost: 9 })
    spend('b', 1_000_001)
    spend('b', 1_000_002)
    spend('c', 1_000_001)
    const exactly = (subject: string, amount: number) => ({ subject, amount, atLeast: amount })
    expect(top.spent('write')).toEqual([exactly('a', 7), exactly('b', 5)])
    expect(top.spent('read')).toEqual([exactly('c', 9)])
    expect(top.refused('write')).toEqual([exactly('b', 2), exactly('c', 1)])
    expect(top.refused('write', 1)).toEqual([exactly('b', 2)])
    expect(top.refused('read')).toEqual([])
    top.stop()
    spend('a', 1)
    expect(top.spent('write', 1)).toEqual([exactly('a', 7)])
  })

  it('top subjects with the same amount are in the order of their names', () => {
    const { top, spend } = counted()
    for (const subject of ['b', 'c', 'a']) spend(subject, 2)
    expect(top.spent('write').map(({ subject }) => subject)).toEqual(['a', 'b', 'c'])
  })

  it('a subject that takes another’s place in the list loses nothing when that one’s counts expire', () => {
    const { clock, top, spend } = counted()
    clock.at = Math.ceil(clock.at / HOUR) * HOUR
    for (let subject = 0; subject < 256; subject++) spend(`s${subject}`, 10)
    clock.at += HOUR / 6
    spend('z', 1_000)
    clock.at += (5 * HOUR) / 6
    expect(top.spent('write')).toEqual([{ subject: 'z', amount: 1_000, atLeast: 1_000 }])
  })

  it('top subjects of one team are counted apart from all others, however much those spend', () => {
    const quota = createQuota({
      limits: {
        user: { by: 'user', limit: 1_000_000, per: '1h' },
        team: { by: 'team', limit: 1_000_000, per: '1h' },
      },
    })
    const top = topSubjects({ quota, only: (subject) => typeof subject === 'object' && subject.team === 'blue' })
    for (let user = 0; user < 400; user++)
      quota.consumeSync({ subject: { user: `u${user}`, team: 'red' }, cost: 1_000 })
    quota.consumeSync({ subject: { user: 'ann', team: 'blue' }, cost: 2 })
    quota.consumeSync({ subject: { user: 'bob', team: null }, cost: 9 })
    expect(top.spent('request')).toEqual([{ subject: 'ann', amount: 2, atLeast: 2 }])
    top.stop()
  })

  it('top subjects are dropped after the period, a sixth of it at a time', () => {
    const { clock, top, spend } = counted()
    clock.at = Math.ceil(clock.at / HOUR) * HOUR
    const first = clock.at
    spend('old', 100)
    clock.at += 20 * MINUTE
    spend('old', 30)
    spend('new', 50)
    clock.at = first + HOUR - 1
    expect(top.sinceAt()).toBe(first)
    expect(top.spent('write').map(({ amount }) => amount)).toEqual([130, 50])
    clock.at++
    expect(top.sinceAt()).toBe(first + 10 * MINUTE)
    expect(top.spent('write').map(({ subject, amount }) => `${subject} ${amount}`)).toEqual(['new 50', 'old 30'])
    clock.at = first + 20 * MINUTE + HOUR
    expect(top.spent('write')).toEqual([])
  })

  it('all top subjects are dropped after a long silence, and none when the clock steps back', () => {
    const { clock, top, spend } = counted()
    for (let each = 0; each < 256; each++) spend(`u${each}`, 10)
    clock.at -= 2 * HOUR
    spend('u0', 500)
    expect(top.spent('write', 1)).toEqual([{ subject: 'u0', amount: 510, atLeast: 510 }])
    for (let each = 256; each < 1_000; each++) spend(`u${each}`, 10)
    clock.at += 40 * HOUR
    spend('late', 1)
    expect(top.spent('write')).toEqual([{ subject: 'late', amount: 1, atLeast: 1 }])
    // What the table of counts had of those who were not listed is forgotten too.
    for (let each = 0; each < 256; each++) spend(`v${each}`, 1)
    spend('u999', 2)
    expect(top.spent('write', 1)).toEqual([{ subject: 'u999', amount: 2, atLeast: 2 }])
  })

  it('a top subject has a probable amount before it was listed and a certain amount', () => {
    const { top, spend } = counted()
    for (let each = 0; each < 256; each++) spend(`big${each}`, 100)
    for (let each = 0; each < 12; each++) spend('creeping', 10)
    const found = top.spent('write', 1)
    expect(found).toEqual([{ subject: 'creeping', amount: 120, atLeast: 20 }])
  })

  it('a top subject’s probable amount shrinks step by step while its certain amount stays', () => {
    const { clock, top, spend } = counted()
    clock.at = Math.ceil(clock.at / HOUR) * HOUR
    for (let each = 0; each < 256; each++) spend(`big${each}`, 100)
    for (let each = 0; each < 12; each++) spend('creeping', 10)
    clock.at += 30 * MINUTE
    // Of a hundred that it probably had, half.
    const [found] = top.spent('write', 100).filter(({ subject }) => subject === 'creeping')
    expect(found ?? 'gone from the first hundred').toBe('gone from the first hundred')
    spend('creeping', 200)
    expect(top.spent('write', 1)).toEqual([{ subject: 'creeping', amount: 270, atLeast: 220 }])
  })

  it('a subject that lost its place keeps its count for the period', () => {
    const { clock, top, spend } = counted()
    clock.at = Math.ceil(clock.at / HOUR) * HOUR
    spend('first', 90)
    for (let each = 0; each < 255; each++) spend(`big${each}`, 100)
    spend('other', 95)
    spend('first', 60)
    expect(top.spent('write', 1)).toEqual([{ subject: 'first', amount: 150, atLeast: 60 }])
    // An unlisted count fades by a sixth with each sixth.
    spend('slow', 90)
    clock.at += 50 * MINUTE
    spend('slow', 100)
    const [slow] = top.spent('write', 1)
    expect(slow?.subject).toBe('slow')
    expect(slow?.amount).toBeLessThan(150)
    expect(slow?.amount).toBeGreaterThan(130)
  })

  it('small subjects enter the list when large ones have expired', () => {
    const { clock, top, spend } = counted()
    clock.at = Math.ceil(clock.at / HOUR) * HOUR
    for (let each = 0; each < 256; each++) spend(`big${each}`, 100)
    spend('small', 10)
    for (let sixth = 1; sixth <= 6; sixth++) {
      clock.at += 10 * MINUTE
      expect(top.sinceAt()).toBeDefined()
    }
    spend('late', 5)
    expect(top.spent('write')).toEqual([{ subject: 'late', amount: 5, atLeast: 5 }])
  })

  it('top subjects include what a commit charges above the reservation', async () => {
    const policy = definePolicy({
      limits: {
        ofTeam: { by: 'team', limit: 100, per: '1h' },
        ofPerson: { by: 'person', limit: 100, per: '1h' },
      },
      operations: { chat: { cost: 10, overrun: 'charge', maxOverrun: 50 } },
    })
    const quota = createQuota({ policy, store: memoryStore() })
    const teams = topSubjects({ quota })
    const people = topSubjects({ quota, layer: 'person' })
    const work = await quota.reserve({ subject: { team: 't', person: 'p' }, operation: 'chat', ttlMs: 10_000 })
    await work.commit(17)
    expect(teams.spent('chat')).toEqual([{ subject: 't', amount: 17, atLeast: 17 }])
    expect(people.spent('chat')).toEqual([{ subject: 'p', amount: 17, atLeast: 17 }])
  })

  it('operations of a category are counted together, and others by themselves', async () => {
    const policy = definePolicy({
      limits: { perHour: { by: 'user', limit: 1_000, per: '1h' } },
      operations: { add: { category: 'write' }, remove: { category: 'write' }, look: {} },
    })
    const quota = createQuota({ policy, store: memoryStore() })
    const top = topSubjects({ quota })
    const spend = (subject: string, operation: 'add' | 'remove' | 'look', cost: number) =>
      quota.consume({ subject, operation, cost })
    // Of neither operation is it among those listed.
    for (const operation of ['add', 'remove'] as const) {
      for (let each = 0; each < 101; each++) await spend(`${operation} ${each}`, operation, 6)
      await spend('both', operation, 5)
      await spend('both', operation, 1_001)
    }
    await spend('both', 'look', 3)
    expect(top.spent('write', 1)).toEqual([{ subject: 'both', amount: 10, atLeast: 10 }])
    expect(top.refused('write')).toEqual([{ subject: 'both', amount: 2, atLeast: 2 }])
    expect(top.spent('look')).toEqual([{ subject: 'both', amount: 3, atLeast: 3 }])
    expect(() => top.spent('add')).toThrow('"add" is counted with its category: ask for "write"')
  })

  it('topSubjects() rejects invalid options and queries', () => {
    const { quota, top } = counted()
    expect(() => topSubjects({ quota, layer: 'site' })).toThrow(
      'invalid options of topSubjects(): layer: no limit is by "site"; the policy has personal',
    )
    expect(() => topSubjects({ quota, periodMs: 10 })).toThrow('periodMs')
    expect(() => top.spent('wirte')).toThrow('no category or operation "wirte"; did you mean "write"?')
    expect(() => top.spent('write', 101)).toThrow('expected a count from 1 to 100, got 101')
  })
})

/** Users by Zipf's law: the n-th spends 1/n of what the first does. */
function zipf(users: number, next: () => number): () => number {
  const sums = new Float64Array(users)
  let sum = 0
  for (let user = 0; user < users; user++) {
    sum += 1 / (user + 1)
    sums[user] = sum
  }
  return () => {
    const at = next() * sum
    let low = 0
    let high = users - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if (sums[middle]! < at) low = middle + 1
      else high = middle
    }
    return low
  }
}

it.runIf(slowTests)('95 of the top 100 of 50,000 users under Zipf are found', () => {
  const seed = testSeed
  const { quota, clock, top } = counted()
  const next = randomFrom(seed)
  const user = zipf(50_000, next)
  const spent = new Map<string, number>()
  const refused = new Map<string, number>()
  for (let each = 0; each < 200_000; each++) {
    const subject = `${user()}`
    const cost = 1 + Math.floor(next() * 9)
    const isTooMuch = next() < 0.3
    quota.consumeSync({ subject, operation: 'write', cost: isTooMuch ? 1_000_001 : cost })
    if (isTooMuch) refused.set(subject, (refused.get(subject) ?? 0) + 1)
    else spent.set(subject, (spent.get(subject) ?? 0) + cost)
    if (each % 40_000 === 0) clock.at += MINUTE
  }
  const best = (amounts: ReadonlyMap<string, number>): string[] =>
    [...amounts]
      .sort(([, a], [, b]) => b - a)
      .slice(0, 100)
      .map(([subject]) => subject)
  const rightOf = (listed: readonly { readonly subject: string }[], truth: readonly string[]): number =>
    listed.filter(({ subject }) => truth.includes(subject)).length
  expect(rightOf(top.spent('write', 100), best(spent)), `seed ${seed}`).toBeGreaterThanOrEqual(95)
  expect(rightOf(top.refused('write', 100), best(refused)), `seed ${seed}`).toBeGreaterThanOrEqual(95)
  for (const { subject, amount, atLeast } of top.spent('write', 100)) {
    expect(atLeast, `seed ${seed}`).toBeLessThanOrEqual(spent.get(subject) ?? 0)
    expect(amount, `seed ${seed}`).toBeGreaterThanOrEqual(atLeast)
  }
})

it.runIf(slowTests)('the longest subject names take less than 1 MB and don’t keep their source texts', () => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  const { quota, clock } = gateway({ policy: gatewayPolicy(flatLimits(1_000_000, 1_000_000_000)) })
  const heap = (): number => {
    gc()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return heapUsed + arrayBuffers
  }
  const cutFrom = (each: number): string => `${each}`.padEnd(256, 'x').concat('y'.repeat(5_000)).slice(0, 256)
  const ask = (): void => {
    for (let each = 0; each < 2_000; each++) {
      const subject = cutFrom(each % 400)
      for (const operation of ['write', 'read'] as const) {
        quota.consumeSync({ subject, operation, cost: each % 3 === 0 ? 1_000_001 : 1 })
      }
    }
  }
  const kept = (): ReturnType<typeof topSubjects> => {
    const top = topSubjects({ quota, clock })
    ask()
    top.stop()
    return top
  }
  const first = kept()
  const before = heap()
  // Many, so that what else the process allocates meanwhile weighs little.
  const tops = Array.from({ length: 16 }, kept)
  const grown = (heap() - before) / tops.length
  for (const top of [first, ...tops]) {
    expect(top.spent('write', 100)).toHaveLength(100)
    expect(top.refused('read', 100)).toHaveLength(100)
  }
  expect(grown).toBeLessThan(1_000_000)
})
