import { join } from 'node:path'
import Database from 'libsql'
import type { Answer, TestGateway } from './gateway.ts'

type Send = TestGateway['send']

/** Charts that are made for a test, one after the other. */
const FIRST = 2_001

/** Puts so many charts into an embedded database. */
export function addCharts(dataDir: string, count: number): void {
  const file = new Database(join(dataDir, 'gateway.sqlite'))
  try {
    for (const statement of chartStatements(count)) file.exec(statement)
  } finally {
    file.close()
  }
}

/** The same as statements that any database takes. */
export function chartStatements(count: number): string[] {
  const rows = Array.from({ length: count }, (_, index) => `(${FIRST + index}, 3, 'made', 'standard', 1000)`)
  return [`insert into charts (music_id, level, title, type, notes) values ${rows.join(', ')}`]
}

/** Scores of those charts. */
export function scoresOf(from: number, count: number, achievement = 100): object[] {
  return Array.from({ length: count }, (_, index) => {
    return { musicId: FIRST + from + index, level: 3, achievement, dxScore: 1_000 }
  })
}

/** What clients do with a session. */
export interface UploadCalls {
  create(expected?: number): Promise<Answer>
  add(sessionId: string, musicList: readonly object[]): Promise<Answer>
  check(sessionId: string, sync?: '0' | '1'): Promise<Answer>
  /** Write tokens that are used, and of those held. */
  used(): Promise<{ used: number; held: number }>
  /** How many scores the player has. */
  stored(): Promise<number>
}

export function uploadCalls(send: Send): UploadCalls {
  return {
    create: (expected) => send('POST', '/v1/upsert/session', { body: { expected } }),
    add: (sessionId, musicList) => send('POST', '/v1/music/upsert', { body: { sessionId, musicList } }),
    check: (sessionId, sync = '1') => send('POST', `/v1/upsert/check?sync=${sync}`, { body: { sessionId } }),
    async used() {
      const [{ used, held = 0 }] = (await send('GET', '/me/quota')).body.windows.write
      return { used, held }
    },
    async stored() {
      const { body } = await send('POST', '/v1/user/music')
      const list: { musicId: number }[] = body.businessData.userMusicDetailList
      return list.filter(({ musicId }) => musicId >= FIRST && musicId < 10_000).length
    },
  }
}

/** Begins a session and answers its id. */
export async function begun({ create }: UploadCalls, expected?: number): Promise<string> {
  const { status, body } = await create(expected)
  if (status !== 200) throw new Error(`no session: ${JSON.stringify(body)}`)
  return body.businessData.sessionId
}
