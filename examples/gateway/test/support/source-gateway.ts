import { join } from 'node:path'
import Database from 'libsql'
import { type Answer, type TestGateway, type TestOptions, testGateway } from './gateway.ts'
import { type SourceServer, sourceServer } from './source-server.ts'

export const KEY = 'player-token-0123456789'

export interface SourceGateway extends TestGateway {
  readonly lx: SourceServer
  readonly fish: SourceServer
  updateLx(body?: object): Promise<Answer>
  updateFish(body?: object): Promise<Answer>
  scores(): Promise<Record<string, unknown>[]>
}

/** A gateway whose sources are servers of the test. */
export async function sourceGateway({ env = {}, ...options }: TestOptions = {}): Promise<SourceGateway> {
  const [lx, fish] = await Promise.all([sourceServer(), sourceServer()])
  const gateway = await testGateway({
    ...options,
    env: { LXNS_BASE_URL: `${lx.origin}/api/v0`, FISH_BASE_URL: fish.origin, ...env },
  })
  return {
    ...gateway,
    lx,
    fish,
    updateLx: (body = { key: KEY }) => gateway.send('POST', '/v1/update-lx', { body }),
    updateFish: (body = { token: KEY }) => gateway.send('POST', '/v1/update-fish', { body }),
    scores: async () => (await gateway.send('POST', '/v1/user/music')).body.businessData.userMusicDetailList,
  }
}

/** Sets a user's scores aside: the demo comes with some. */
export async function clearScores({ dataDir }: TestGateway): Promise<void> {
  const file = new Database(join(dataDir, 'gateway.sqlite'))
  file.exec('delete from scores')
  file.close()
}
