import { memoryStore } from '@scoregw/quota'
import { cellsIn, windowCell } from '@scoregw/quota/internal'
import type { Counters, TakeReply } from '@scoregw/quota/store'
import { uniform } from '@scoregw/quota-histories'
import { manualClock } from '@scoregw/quota-testkit'
import { describe, expect, it } from 'vitest'
import { newPrefix, openStore } from './store-harness.ts'
import { useRedis } from './support/cleanups.ts'
import { redisTests } from './support/redis-server.ts'

const COST = 4
const TTL_MS = 600_000
const SCHEMA = uniform(['tokens'], cellsIn(['tokens'], [windowCell({ label: '9d', lengthMs: 9 * 86_400_000 })]), [
  { name: 'personal', shared: false },
])
const MOVES = ['a reserves', 'b reserves', 'a commits', 'b commits', 'a cancels', 'b cancels', 'expires'] as const
type Move = (typeof MOVES)[number]

/** Every sequence of so many moves. */
function sequences(length: number): Move[][] {
  if (length === 0) return [[]]
  return sequences(length - 1).flatMap((start) => MOVES.map((move) => [...start, move]))
}

function play(
  counters: Counters,
  subject: string,
  move: Move,
  starts: ReadonlyMap<string, readonly number[]>,
): unknown {
  const who = move[0] ?? ''
  const id = { id: 'i', nonce: who, fingerprint: 'f', ttlMs: TTL_MS }
  if (move.endsWith('reserves')) {
    const quotas = { layers: [0], limits: [100] }
    return counters.take({ subject, set: 0, quotas, costs: [COST, 0], id })
  }
  const as = move.endsWith('commits') ? 'committed' : 'cancelled'
  const states = starts.get(who) ?? [0, 0]
  const refunds = as === 'committed' ? 1 : COST
  return counters.settle({ subject, set: 0, layers: [0], states, refunds: [refunds], as, id })
}

describe.runIf(redisTests)('one id in two processes', () => {
  const redis = useRedis()

  it('one id in two processes is charged once and given back once in every order of calls', async () => {
    const all = sequences(4)
    const clock = manualClock()
    const prefix = newPrefix()
    const stores = { a: openStore(redis.port, prefix, clock), b: openStore(redis.port, prefix, clock) }
    const counters = { a: stores.a.open(SCHEMA), b: stores.b.open(SCHEMA) }
    const memory = memoryStore({ clock, maxIds: 1_000_000 }).open(SCHEMA)
    await Promise.all([stores.a.ready(), stores.b.ready()])
    const games = all.map((moves, index) => ({
      subject: `u${index}`,
      moves,
      starts: new Map<string, readonly number[]>(),
      admitted: 0,
      holder: '',
    }))
    const turn = async (game: (typeof games)[number], move: Move): Promise<void> => {
      const who = move[0] as 'a' | 'b'
      const expected = play(memory, game.subject, move, game.starts)
      const answer = await play(counters[who], game.subject, move, game.starts)
      expect(answer, game.moves.join(', ')).toEqual(expected)
      if (!move.endsWith('reserves')) return
      const { outcome, states } = answer as TakeReply
      if (outcome !== 'admitted') return
      expect(['', who], `${game.moves.join(', ')}: work is admitted twice`).toContain(game.holder)
      if (game.holder === '') game.admitted++
      game.holder = who
      game.starts.set(who, states)
    }
    // Games in which the id expires at the same turns are played at once, each on a subject of its own.
    for (let pattern = 0; pattern < 16; pattern++) {
      const expiresAt = (turnIndex: number) => ((pattern >> turnIndex) & 1) === 1
      const group = games.filter(({ moves }) => moves.every((move, i) => (move === 'expires') === expiresAt(i)))
      for (let i = 0; i < 4; i++) {
        if (!expiresAt(i)) await Promise.all(group.map((game) => turn(game, game.moves[i] as Move)))
        else {
          clock.advance(TTL_MS)
          for (const game of group) game.holder = ''
        }
      }
    }
    for (const { subject, moves, admitted } of games) {
      const { states } = await counters.a.read({ subject, set: 0, layers: [0] })
      const used = states[1] ?? -1
      expect(states, moves.join(', ')).toEqual(memory.read({ subject, set: 0, layers: [0] }).states)
      expect(used).toBeGreaterThanOrEqual(0)
      expect(used).toBeLessThanOrEqual(admitted * COST)
    }
    await Promise.all([stores.a.close(), stores.b.close()])
  })

  it('concurrent takes under one id admit one process, and a cancelled id admits none', async () => {
    const clock = manualClock()
    const prefix = newPrefix()
    const stores = [1, 2, 3, 4].map(() => openStore(redis.port, prefix, clock))
    const counters = stores.map((store) => store.open(SCHEMA))
    for (let round = 0; round < 100; round++) {
      const subject = `r${round}`
      const replies = await Promise.all(
        counters.map((each, n) => {
          const id = { id: 'i', nonce: String(n), fingerprint: 'f', ttlMs: TTL_MS }
          const quotas = { layers: [0], limits: [100] }
          return each.take({ subject, set: 0, quotas, costs: [COST, 0], id })
        }),
      )
      expect(replies.map(({ outcome }) => outcome).sort()).toEqual(['admitted', 'duplicate', 'duplicate', 'duplicate'])
      const starts = new Map([['a', replies.find(({ outcome }) => outcome === 'admitted')?.states ?? []]])
      for (const each of counters) await play(each, subject, 'a cancels', starts)
      const { states } = await counters[0]!.read({ subject, set: 0, layers: [0] })
      expect(states[1], 'only the nonce that reserved may give back').toBe(COST)
    }
    await Promise.all(stores.map((store) => store.close()))
  })
})
