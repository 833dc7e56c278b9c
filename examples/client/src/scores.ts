import type { Client } from 'openapi-fetch'
import type { components, paths } from './generated/gateway.ts'
import { dataOf } from './refused.ts'

type Gateway = Client<paths>
type Body = components['schemas']['UpsertMusicBody']
type Answer = components['schemas']['ReadMusicAnswer']

/** A score as it is sent. */
export type NewScore = Body['musicList'][number]
/** A score as it is stored. */
export type Score = Answer['businessData']['userMusicDetailList'][number]

/** Most scores of one request. A request has one price, so full lists are the cheapest. */
export const MAX_LIST = 20

export interface Uploaded {
  readonly written: number
  /** The gateway had them already, and just so. */
  readonly unchanged: number
}

export async function readScores(gateway: Gateway): Promise<readonly Score[]> {
  const { businessData } = dataOf(await gateway.POST('/v1/user/music', { body: {} }))
  return businessData.userMusicDetailList
}

/**
 * Writes scores, list by list. A list is written whole or not at all; those before one that is refused stay written.
 *
 * @param onProgress called after each list with the number of scores sent so far
 */
export async function uploadScores(
  gateway: Gateway,
  scores: readonly NewScore[],
  onProgress: (sent: number) => void,
): Promise<Uploaded> {
  let written = 0
  let unchanged = 0
  for (let start = 0; start < scores.length; start += MAX_LIST) {
    const musicList = scores.slice(start, start + MAX_LIST)
    const { businessData } = dataOf(await gateway.POST('/v1/music/upsert', { body: { musicList } }))
    written += businessData.uploadedMusicCount
    unchanged += businessData.skippedMusicCount
    onProgress(start + musicList.length)
  }
  return { written, unchanged }
}
