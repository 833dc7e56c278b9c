import type { Clock } from '@scoregw/quota'
import type { ChartRepository } from '../charts/chart-repository.ts'
import type { Db } from '../db/schema.ts'
import type { ErrorCode } from '../http/http-error.ts'
import type { BodyLimits } from '../http/json-body.ts'
import { holderRoute, type Route } from '../http/route.ts'
import { snapshotAnswer, snapshotParams, snapshotQuery, syncAnswer, syncBody, syncBodyForm } from './bodies.ts'
import { playerAnswer, playerParams, summaryAnswer, trendAnswer, trendQuery } from './player-bodies.ts'
import { PlayerStatus } from './player-status.ts'
import { snapshotStatus } from './snapshots.ts'
import type { SyncService } from './sync-service.ts'

const ERRORS = [
  'chunk_conflict',
  'snapshot_open',
  'snapshot_incomplete',
  'snapshot_expired',
  'snapshot_empty',
  'checksum_mismatch',
  'player_busy',
] as const satisfies readonly ErrorCode[]

const EXAMPLE = {
  qq: 10_001,
  nickname: 'demo',
  rating: 14_210,
  old_rating: 10_100,
  new_rating: 4_110,
  records: [{ song_id: 10_106, level_index: 3, achievements: 100.5, dxScore: 2871, fc: 'fc', fs: 'fs' }],
}

interface SyncDeps {
  readonly db: Db
  readonly clock: Clock
  readonly charts: ChartRepository
  readonly sync: SyncService
}

/** Storing scores, and reporting what has arrived. */
export function syncRoutes({ db, clock, charts, sync }: SyncDeps): Route[] {
  const players = new PlayerStatus({ db, charts, clock })
  return [
    holderRoute('POST /api/bot/sync', {
      id: 'sync',
      tag: 'Sync',
      summary: "Report a player's scores, in one request or in the chunks of a snapshot",
      example: EXAMPLE,
      bodyForm: syncBodyForm,
      errors: ERRORS,
      body: syncBody,
      answer: syncAnswer,
      async handle({ input }) {
        return { body: await sync.sync(input) }
      },
    }),
    holderRoute('GET /api/bot/sync/:snapshotId', {
      id: 'readSnapshot',
      tag: 'Sync',
      summary: 'Which chunks of a snapshot have arrived',
      errors: ['not_found', 'conflict'],
      params: snapshotParams,
      query: snapshotQuery,
      answer: snapshotAnswer,
      async handle({ params: { snapshotId }, query: { qq } }) {
        return { body: await snapshotStatus(db, clock, snapshotId, qq) }
      },
    }),
    holderRoute('GET /api/bot/player/:qq', {
      id: 'readPlayer',
      tag: 'Sync',
      summary: 'Stored scores of a player',
      errors: ['not_found'],
      params: playerParams,
      answer: playerAnswer,
      async handle({ params: { qq } }) {
        return { body: await players.whole(qq) }
      },
    }),
    holderRoute('GET /api/bot/player/:qq/summary', {
      id: 'summarizePlayer',
      tag: 'Sync',
      summary: 'The same without the records',
      errors: ['not_found'],
      params: playerParams,
      answer: summaryAnswer,
      async handle({ params: { qq } }) {
        return { body: await players.summary(qq) }
      },
    }),
    holderRoute('GET /api/bot/player/:qq/trend', {
      id: 'readTrend',
      tag: 'Sync',
      summary: "History of a player's rating",
      description: 'One point per day in Beijing with a sync. The list may be empty.',
      params: playerParams,
      query: trendQuery,
      answer: trendAnswer,
      async handle({ params: { qq }, query: { days } }) {
        return { body: await players.trend(qq, days) }
      },
    }),
  ]
}

/** Ten thousand records with long titles, and twice as many members as a record has at Diving-Fish. */
export const SYNC_BODY_LIMITS: BodyLimits = { bytes: 8 * 1_048_576, values: 280_000, gzip: true }
