import type { Client } from 'openapi-fetch'
import type { paths } from './generated/gateway.ts'
import { dataOf } from './refused.ts'
import { MAX_LIST, type NewScore, type Uploaded } from './scores.ts'

/** The result of an upload in parts. */
export interface UploadedAtOnce extends Uploaded {
  readonly tokens: number
}

/**
 * Writes scores in one session: all of them, or none. A session that is refused on the way stores nothing and costs nothing.
 *
 * @param onProgress called after each list with the number of scores sent so far
 */
export async function uploadAtOnce(
  gateway: Client<paths>,
  scores: readonly NewScore[],
  onProgress: (sent: number) => void,
): Promise<UploadedAtOnce> {
  const begun = dataOf(await gateway.POST('/v1/upsert/session', { body: {} }))
  const { sessionId } = begun.businessData
  for (let start = 0; start < scores.length; start += MAX_LIST) {
    const musicList = scores.slice(start, start + MAX_LIST)
    dataOf(await gateway.POST('/v1/music/upsert', { body: { sessionId, musicList } }))
    onProgress(start + musicList.length)
  }
  const query = { sync: '1' } as const
  const { businessData } = dataOf(await gateway.POST('/v1/upsert/check', { params: { query }, body: { sessionId } }))
  const { uploadedMusicCount, skippedMusicCount, tokensCharged } = businessData
  return { written: uploadedMusicCount ?? 0, unchanged: skippedMusicCount ?? 0, tokens: tokensCharged ?? 0 }
}
