import { existsSync, linkSync, readFileSync, rmSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '@scoregw/quota'
import * as z from 'zod'
import type { Addresses } from '../addresses.ts'
import type { Config } from '../config/config.ts'
import { DEMO_LABEL, newToken, type Tokens } from '../credentials/tokens.ts'
import type { Db } from '../db/schema.ts'
import { type Gate, putGates, untouchedGate } from '../players/gates.ts'
import { type Item, putItems } from '../players/items.ts'
import type { ScoreService } from '../scores/score-service.ts'
import { makeDataDir, ownFile } from '../start/data-dir.ts'
import { ConfigError } from '../start/start-error.ts'
import type { UserRepository } from '../users/user-repository.ts'

const credentialsFile = z.object({
  userToken: z.string(),
  adminToken: z.string(),
  botToken: z.string(),
  chartApiKey: z.string(),
})

/** Credentials to try the services with. */
export type DemoCredentials = z.output<typeof credentialsFile>

const DEMO_USER = { id: 'demo', name: 'demo', role: 'player' } as const
/** The score sync account of the demo's user. */
const DEMO_QQ = 10_001
const DEMO_ADMIN = { id: 'admin', name: 'admin', role: 'admin' } as const

interface DemoOptions {
  readonly users: UserRepository
  readonly scores: ScoreService
  readonly db: Db
  readonly clock: Clock
  readonly tokens: Tokens
  readonly config: Config
}

/** Creates the demo's users and tokens if they don't exist. The first start also adds a few scores, items and gates. */
export async function ensureDemo(options: DemoOptions): Promise<DemoCredentials> {
  const { users, scores, db, clock, config } = options
  makeDataDir(config.DATA_DIR)
  const kept = keptCredentials(join(config.DATA_DIR, 'demo-credentials.json'))
  const demo = {
    userToken: config.DEMO_USER_TOKEN ?? kept.userToken,
    adminToken: config.DEMO_ADMIN_TOKEN ?? kept.adminToken,
    botToken: config.BOT_TOKEN ?? kept.botToken,
    chartApiKey: config.CHART_API_KEY ?? kept.chartApiKey,
  }
  const isFirstStart = await users.create(DEMO_USER)
  await users.create(DEMO_ADMIN)
  await db.updateTable('users').set({ role: 'admin' }).where('id', '=', DEMO_ADMIN.id).execute()
  await options.tokens.replace(DEMO_LABEL, [
    { owner: { userId: DEMO_USER.id }, token: demo.userToken },
    { owner: { userId: DEMO_ADMIN.id }, token: demo.adminToken },
    { owner: { service: 'sync' }, token: demo.botToken },
    { owner: { service: 'charts' }, token: demo.chartApiKey },
  ])
  if (isFirstStart) {
    await linkIfFree(db, DEMO_USER.id, DEMO_QQ)
    await seedScores(scores)
    await putItems(db, clock, DEMO_USER.id, ITEMS)
    await putGates(db, clock, DEMO_USER.id, GATES)
  }
  return demo
}

/**
 * Removes the demo's credentials and its administrator's role from a database that once had a demo. The JWT issuer may
 * give that id to another user.
 */
export async function removeDemo({ db, tokens }: Pick<DemoOptions, 'db' | 'tokens'>): Promise<void> {
  await db
    .updateTable('users')
    .set({ role: 'player' })
    .where('id', 'in', ({ selectFrom }) => selectFrom('tokens').select('user_id').where('label', '=', DEMO_LABEL))
    .execute()
  await tokens.replace(DEMO_LABEL, [])
}

/** Links a score sync account, if neither it nor the user is linked yet. */
export async function linkIfFree(db: Db, id: string, qq: number): Promise<void> {
  await db
    .updateTable('users')
    .set({ qq })
    .where('id', '=', id)
    .where('qq', 'is', null)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('users as other').select('other.id').where('other.qq', '=', qq))),
    )
    .execute()
}

function keptCredentials(path: string): DemoCredentials {
  if (!existsSync(path)) keepNewCredentials(path)
  const kept = credentialsFile.safeParse(JSON.parse(readFileSync(ownFile(path), 'utf8')))
  if (kept.success) return kept.data
  throw new ConfigError([`DATA_DIR: ${path} is not what this version keeps there; delete it, and another one is made`])
}

/** Writes a file that is complete and private from the start, and the same for processes that start together. */
function keepNewCredentials(path: string): void {
  const draft = `${path}.${process.pid}`
  const credentials: DemoCredentials = {
    userToken: newToken(),
    adminToken: newToken(),
    botToken: newToken('sync'),
    chartApiKey: newToken('charts'),
  }
  // A killed process with the same number may have left one.
  rmSync(draft, { force: true })
  ownFile(draft, `${JSON.stringify(credentials, null, 2)}\n`)
  try {
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    unlinkSync(draft)
  }
}

async function seedScores(scores: ScoreService): Promise<void> {
  const musicList = [
    { musicId: 101, level: 3, achievement: 1_005_732, dxScore: 1_544, comboStatus: 2, syncStatus: 1, fuzzy: false },
    { musicId: 10_104, level: 3, achievement: 998_120, dxScore: 4, comboStatus: 0, syncStatus: 0, fuzzy: true },
    { musicId: 10_105, level: 2, achievement: 973_345, dxScore: 1_180, comboStatus: 1, syncStatus: 5, fuzzy: false },
  ] as const
  await scores.upsert(DEMO_USER.id, await scores.resolve({ musicList: [...musicList] }))
}

const ITEMS: readonly Item[] = [
  { itemKind: 1, itemId: 101, stock: 1, isValid: true },
  { itemKind: 2, itemId: 2_001, stock: 1, isValid: true },
  { itemKind: 3, itemId: 301, stock: 1, isValid: true },
  { itemKind: 9, itemId: 7, stock: 3, isValid: true },
  { itemKind: 11, itemId: 12, stock: 1, isValid: false },
  { itemKind: 15, itemId: 1, stock: 2, isValid: true },
]

const AT = '2026-07-01T12:00:00.000Z'

const GATES: readonly Gate[] = [
  {
    gateId: 1,
    isGateFound: true,
    isKeyFound: true,
    isClear: true,
    totalRestLife: 412,
    totalAchievement: 2_995_120,
    totalDeluxscore: 4_318,
    bestAchievement: 1_001_250,
    bestDeluxscore: 1_502,
    bestAchievementDate: AT,
    bestDeluxscoreDate: AT,
    playCount: 3,
    clearDate: AT,
    lastPlayDate: AT,
    isInfoWatched: true,
  },
  { ...untouchedGate(2), isGateFound: true },
]

/** A request that stores one score, as the demo's user can send it. */
const EXAMPLE_BODY = '{"musicList":[{"musicId":10106,"level":3,"achievement":100.5,"dxScore":2871,"comboStatus":"fc"}]}'

/** A request that reports one more score, as a bot can send it. */
const EXAMPLE_SYNC = `{"qq":${DEMO_QQ},"records":[{"song_id":10106,"level_index":2,"achievements":99.8,"dxScore":1402,"fc":"fc","fs":"fs"}]}`

/** The text printed at startup. You can run the lines with `curl` unchanged. */
export function banner(
  addresses: Addresses,
  dataDir: string,
  counters: string,
  demo: DemoCredentials | undefined,
): string {
  const { gateway: baseUrl, sync, charts } = addresses
  const lines = [
    '',
    `Score gateway   ${baseUrl}`,
    `Score sync      ${sync}`,
    `Chart preview   ${charts}`,
    `Console         ${baseUrl}/admin/`,
    `Reference       ${baseUrl}/reference/`,
    `Data            ${dataDir}`,
    `Counters        ${counters}`,
  ]
  if (demo !== undefined) {
    const { userToken, adminToken, botToken, chartApiKey } = demo
    lines.push(
      `Demo user       demo    ${userToken}`,
      `Demo admin      admin   ${adminToken}`,
      `Demo bot                ${botToken}`,
      `Demo chart key          ${chartApiKey}`,
      '',
      'Store a score:',
      `  curl -s ${baseUrl}/v1/music/upsert -H 'Authorization: Bearer ${userToken}' -H 'Content-Type: application/json' -d '${EXAMPLE_BODY}'`,
      'See what that cost:',
      `  curl -s ${baseUrl}/me/quota -H 'Authorization: Bearer ${userToken}'`,
      'Look at a chart:',
      `  curl -s ${charts}/api/v1/charts/106:dx:4 -H 'X-API-Key: ${chartApiKey}'`,
      'Bring a score as a bot, for the demo user:',
      `  curl -s ${sync}/api/bot/sync -H 'Bot-Token: ${botToken}' -H 'Content-Type: application/json' -d '${EXAMPLE_SYNC}'`,
    )
  }
  return `${lines.join('\n')}\n\n`
}
