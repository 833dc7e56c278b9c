import { existsSync, linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import type { ScoreService } from '../scores/score-service.ts'
import { newToken } from '../users/tokens.ts'
import type { UserRepository } from '../users/user-repository.ts'

/** Credentials to try the gateway with. */
export interface DemoCredentials {
  readonly userToken: string
  readonly adminToken: string
}

const DEMO_USER = { id: 'demo', name: 'demo', role: 'player' } as const
const DEMO_ADMIN = { id: 'admin', name: 'admin', role: 'admin' } as const
/** Tokens with this label are the demo's, and go when the demo goes or gets others. */
const LABEL = 'demo'

const credentialsFile = z.object({ userToken: z.string(), adminToken: z.string() })

export interface DemoOptions {
  readonly users: UserRepository
  readonly scores: ScoreService
  readonly dataDir: string
  /** Tokens from the configuration; those that are absent are made once and kept in the data folder. */
  readonly given: { readonly userToken: string | undefined; readonly adminToken: string | undefined }
}

/** Makes sure that the demo's users and tokens are there, with a few scores at first start. */
export async function ensureDemo({ users, scores, dataDir, given }: DemoOptions): Promise<DemoCredentials> {
  const kept = keptCredentials(join(dataDir, 'demo-credentials.json'))
  const credentials = {
    userToken: given.userToken ?? kept.userToken,
    adminToken: given.adminToken ?? kept.adminToken,
  }
  const isFirstStart = await users.create(DEMO_USER)
  await users.create(DEMO_ADMIN)
  await users.replaceTokens(LABEL, [
    { userId: DEMO_USER.id, token: credentials.userToken },
    { userId: DEMO_ADMIN.id, token: credentials.adminToken },
  ])
  if (isFirstStart) await seedScores(scores)
  return credentials
}

/** Takes the demo's credentials away from a data folder that once had a demo. */
export async function removeDemo(users: UserRepository): Promise<void> {
  await users.replaceTokens(LABEL, [])
}

function keptCredentials(path: string): DemoCredentials {
  if (!existsSync(path)) keepNewCredentials(path)
  return credentialsFile.parse(JSON.parse(readFileSync(path, 'utf8')))
}

/** Whole and readable by its owner alone from the first moment, and the same for processes that start together. */
function keepNewCredentials(path: string): void {
  const draft = `${path}.${process.pid}`
  const credentials = { userToken: newToken(), adminToken: newToken() }
  writeFileSync(draft, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 })
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
