import { describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, sender, tempDir, USER_TOKEN } from './support/gateway.ts'
import { type Child, runGateway } from './support/process.ts'
import { BOT_TOKEN, botOf, type FishRecord, manyRecords, recordOf } from './support/sync.ts'
import { syncSnapshot } from './support/sync-client.ts'

const KILLS = process.env.QUOTA_TEST_DEEP === '1' ? 12 : 1
const TIMEOUT_MS = 60_000 + 20_000 * KILLS
const ENV = { DEMO_USER_TOKEN: USER_TOKEN, DEMO_ADMIN_TOKEN: ADMIN_TOKEN, BOT_TOKEN }
const LINKED = 10_001
const UNLINKED = 20_002

interface Running extends Child {
  readonly baseUrl: string
  readonly syncUrl: string
}

async function start(dataDir: string): Promise<Running> {
  const child = await runGateway(dataDir, ENV)
  const [, syncUrl = ''] = /Score sync +(\S+)/.exec(child.stdout()) ?? []
  return { ...child, syncUrl }
}

const facts = (records: readonly FishRecord[]): string[] =>
  records
    .map(({ song_id, level_index, achievements, dxScore }) => [song_id, level_index, achievements, dxScore].join())
    .sort()

describe.runIf(slowTests)('a sync process killed amid snapshots', { timeout: TIMEOUT_MS }, () => {
  it('a killed process loses and doubles no score if clients retry', async () => {
    const dataDir = tempDir()
    let running = await start(dataDir)
    const before = botOf(running.syncUrl)
    for (const qq of [LINKED, UNLINKED]) await before.sync({ qq, records: [recordOf(50_000)] })
    let kills = 0
    let restarting: Promise<void> | undefined
    const restart = async (): Promise<void> => {
      running.process.kill('SIGKILL')
      await running.ended()
      running = await start(dataDir)
    }
    // The second chunk of one client is in flight: killed somewhere between its first byte and its answer.
    const sending = (chunk: number): void => {
      if (chunk !== 1 || kills >= KILLS || restarting !== undefined) return
      kills++
      setTimeout(
        () => {
          restarting = restart().finally(() => {
            restarting = undefined
          })
        },
        20 + 7 * kills,
      )
    }
    const records = manyRecords(2_500)
    const clients = [LINKED, UNLINKED].map((qq) =>
      syncSnapshot({ syncUrl: () => running.syncUrl, qq, snapshotId: 'one', records, sending }),
    )
    await Promise.all(clients)
    await restarting
    expect(kills).toBe(KILLS)
    const bot = botOf(running.syncUrl)
    const unlinked = (await bot.get(`/api/bot/player/${UNLINKED}`)).body.records
    expect(facts(unlinked)).toEqual(facts(records))
    const linked = (await bot.get(`/api/bot/player/${LINKED}`)).body.records
    // The demo's own scores are there as well: its three charts are among those that were sent, or not from sync.
    const sent = new Set(facts(records))
    expect(facts(linked).filter((each) => sent.has(each))).toEqual(facts(records))
    expect(linked.some(({ song_id }: FishRecord) => song_id === 50_000)).toBe(false)
    const { body } = await sender(running.baseUrl)('POST', '/v1/user/music')
    expect(body.businessData.length).toBe(linked.length)
  })
})

import { slowTests } from '@scoregw/server-kit'
