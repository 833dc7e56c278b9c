import { postgresTests } from '@scoregw/postgres-server'
import { manualClock } from '@scoregw/quota-testkit'
import { describe, expect, it } from 'vitest'
import { AuditLog } from '../src/audit/audit.ts'
import { beijingDay } from '../src/beijing-day.ts'
import type { Chart } from '../src/charts/chart.ts'
import { ChartRepository } from '../src/charts/chart-repository.ts'
import { Tokens } from '../src/credentials/tokens.ts'
import { openPostgres } from '../src/db/postgres.ts'
import { linkIfFree } from '../src/demo/demo.ts'
import { PlayerScores } from '../src/scores/player-scores.ts'
import type { StoredScore } from '../src/scores/score.ts'
import type { UsageRecord } from '../src/usage/usage-records.ts'
import { UsageRecords } from '../src/usage/usage-records.ts'
import { UserRepository } from '../src/users/user-repository.ts'
import { START } from './support/gateway.ts'
import { testDatabase } from './support/postgres.ts'
import { closedInTheEnd, createPlayers, embeddedDatabase, type OpenDatabase } from './support/test-database.ts'

const CHART: Chart = {
  musicId: 10_500,
  level: 4,
  title: '“音楽” %_\'"',
  type: 'dx',
  notes: 1_234,
  artist: 'an artist',
  charter: null,
  difficulty: '13+',
  constant: 13.7,
  counts: { taps: 1, holds: 2, slides: 3, touches: 4, breaks: 5 },
}

const SCORE: StoredScore = {
  musicId: 100_107,
  level: 10,
  achievement: 1_010_000,
  dxScore: 3_702,
  dxScoreSource: 'fuzzy',
  comboStatus: 4,
  syncStatus: 5,
  playCount: 2_000_000_000,
  source: 'fish',
  playedAt: START - 1,
  updatedAt: START,
  syncQq: null,
  syncTurn: null,
}

const DAY_MS = 86_400_000

const USAGE: UsageRecord = {
  id: '',
  user_id: 'ann',
  at: START,
  operation: 'source.lx',
  category: 'read',
  cost: 5,
  charged: 5,
  status: 200,
  error: null,
  settings_version: 3,
  refusal: null,
}

function describeRepositories(name: string, open: OpenDatabase): void {
  describe(`repositories in ${name}`, () => {
    it('scores are returned as stored, in chart order, and overwritten as a whole', async () => {
      const db = await (await open()).connect()
      const scores = new PlayerScores(db, { userId: 'ann' })
      const many = Array.from({ length: 300 }, (_, index) => ({ ...SCORE, musicId: 9_000 - index }))
      const empty = { ...SCORE, playCount: null, playedAt: null, dxScore: 0, comboStatus: 0, syncStatus: 0 } as const
      await scores.putAll([SCORE, { ...SCORE, level: 3 }, ...many])
      expect(await scores.all()).toEqual([...many.toReversed(), { ...SCORE, level: 3 }, SCORE])
      await scores.putAll([{ ...empty, updatedAt: START + 1 }])
      const ofMusic = await scores.ofMusic([{ musicId: SCORE.musicId, level: 0 }])
      expect(ofMusic.sort((a, b) => a.level - b.level)).toEqual([
        { ...SCORE, level: 3 },
        { ...empty, updatedAt: START + 1 },
      ])
      for (const other of [{ userId: 'bob' }, { qq: 10_001 }]) {
        expect(await new PlayerScores(db, other).all()).toEqual([])
      }
      expect(await scores.removeAll()).toBe(302)
    })

    it('charts are added, replaced all or none, and found', async () => {
      const db = await (await open()).connect()
      const charts = new ChartRepository(db)
      await charts.addMissing([CHART])
      await charts.addMissing([{ ...CHART, title: 'another' }])
      expect(await charts.find(CHART)).toEqual(CHART)
      // More than go into one statement.
      const many = Array.from({ length: 1_100 }, (_, index) => ({
        ...CHART,
        musicId: index + 1,
        counts: null,
        notes: null,
      }))
      await charts.replace([{ ...CHART, title: 'new' }, ...many])
      expect((await charts.ofMusic([CHART, { musicId: 1_100, level: 0 }])).size).toBe(2)
      expect(await charts.find(CHART)).toEqual({ ...CHART, title: 'new' })
      expect(await charts.page(1_100, 5)).toEqual({ charts: [{ ...CHART, title: 'new' }], total: 1_101 })
      await expect(charts.replace([...many, { ...CHART, title: null as unknown as string }])).rejects.toThrow()
      expect((await charts.find(CHART))?.title).toBe('new')
      expect(await charts.find({ musicId: 7_000, level: 0 })).toBeUndefined()
    })

    it('users are created once and found by their tokens', async () => {
      const db = await (await open()).connect()
      const clock = manualClock(START)
      const users = new UserRepository(db, clock)
      const tokens = new Tokens({ db, clock, audit: new AuditLog(db, clock) })
      const ann = { id: 'ann', name: 'Ann “音”', role: 'admin', disabled: false } as const
      expect([await users.create(ann), await users.create({ ...ann, name: 'no' })]).toEqual([true, false])
      expect(await users.find('ann')).toEqual(ann)
      expect(await users.findOrCreate('bob')).toEqual({ id: 'bob', name: 'bob', role: 'player', disabled: false })
      const id = await tokens.add({ userId: 'ann' }, 'gw_one', 'a')
      // The same token for another user: it stands for the last one.
      expect(await tokens.add({ userId: 'bob' }, 'gw_one', 'a')).toBe(id)
      expect((await tokens.user('gw_one'))?.id).toBe('bob')
      await tokens.replace('a', [{ owner: { userId: 'ann' }, token: 'gw_two' }])
      expect([await tokens.user('gw_one'), await tokens.user('gw_two')]).toEqual([undefined, ann])
      await linkIfFree(db, 'ann', 999_999_999_999)
      await linkIfFree(db, 'bob', 999_999_999_999)
      const linked = await db.selectFrom('users').select(['id', 'qq']).orderBy('id').execute()
      expect(linked).toEqual([
        { id: 'ann', qq: 999_999_999_999 },
        { id: 'bob', qq: null },
      ])
    })

    it('usage is stored once, read in order, summed by day, and deleted', async () => {
      const db = await (await open()).connect()
      await createPlayers(db, manualClock(START), 'ann', 'bob')
      const usage = new UsageRecords(db)
      const refused = '{"name":"site-write-1d"}'
      const records = [
        { ...USAGE, id: 'c', status: 429, charged: 0, refusal: refused },
        { ...USAGE, id: 'b', cost: null, settings_version: null, error: 'quota_unavailable', status: 503 },
        { ...USAGE, id: 'a' },
        { ...USAGE, id: 'd', at: START - 31 * DAY_MS },
      ]
      await usage.add(records)
      await usage.add([{ ...USAGE, id: 'e', user_id: 'bob' }, ...records])
      expect(await usage.page('ann', undefined, 10)).toEqual(records)
      expect(await usage.page('ann', records[1], 10)).toEqual(records.slice(2))
      const today = beijingDay(START)
      const sums = { requests: 3, tokens: 10, failures: 2 }
      expect(await usage.days('ann', today - 29)).toEqual([{ day: today, ...sums }])
      await usage.forgetOld(START)
      expect(await usage.days('ann', 0)).toEqual([{ day: today, ...sums }])
      expect((await usage.page('ann', undefined, 10)).length).toBe(3)
    })
  })
}

describeRepositories('the embedded database', embeddedDatabase)

describe.runIf(postgresTests)('repositories on PostgreSQL', () => {
  describeRepositories('PostgreSQL', async () => {
    const { url } = await testDatabase()
    return { connect: () => closedInTheEnd(openPostgres(url)) }
  })
})
