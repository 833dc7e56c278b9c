import type { Clock } from '@scoregw/quota'
import * as z from 'zod'
import type { PlayRecord } from '../scores/score.ts'
import { type Forwarded, type Forwarder, type Meanings, parseJson, refusal } from './forwarder.ts'
import { fields, MAX_RECORDS, playOf, readRecords } from './records.ts'
import { credentialField, type FetchedScores, type ScoreSource, sourceFault } from './score-source.ts'

const MEANINGS: Meanings = { 401: 'source_credential_rejected', 403: 'source_privacy' }

/** The source's 400 for a wrong import token. Only its text tells it from other faults with that status. */
const wrongToken = z.object({ status: z.literal('error'), message: z.literal('导入token有误') })

const answerBody = z.object({
  nickname: z.string().max(64).optional().catch(undefined),
  rating: z.int().min(0).max(99_999).optional().catch(undefined),
  records: z.array(z.unknown()).max(MAX_RECORDS),
})

const ID_ERROR = 'expected a whole number from 1 to 999999'

/** `song_id` is our id; the type follows from it. */
export const fishRecord: z.ZodType<PlayRecord> = z
  .object({
    song_id: z.int(ID_ERROR).min(1, ID_ERROR).max(999_999, ID_ERROR),
    level_index: fields.levelIndex,
    achievements: fields.achievement,
    dxScore: fields.dxScore,
    fc: fields.combo,
    fs: fields.sync,
  })
  .transform(({ song_id, level_index, achievements, dxScore, fc, fs }) =>
    playOf({
      musicId: song_id,
      levelIndex: level_index,
      achievement: achievements,
      dxScore,
      comboStatus: fc,
      syncStatus: fs,
    }),
  )

/** Diving-Fish, called with the player's import token, or with an access token of its OAuth. */
export function divingFish(forwarder: Forwarder, clock: Clock): ScoreSource {
  return {
    async fetchScores(credential, signal): Promise<FetchedScores> {
      const answer = await forwarder.get('/player/records', credentialField(credential, 'Import-Token'), signal)
      const { records, nickname, rating } = bodyOf(answer, clock.now())
      return { ...(await readRecords(records, 'records', fishRecord)), nickname, rating }
    },
  }
}

function bodyOf(answer: Forwarded, now: number): z.output<typeof answerBody> {
  const { status, text } = answer
  const json = parseJson(text)
  if (wrongToken.safeParse(json).success) {
    throw sourceFault('fish', 'source_credential_rejected', { upstreamStatus: status })
  }
  if (status !== 200) throw refusal('fish', status, answer, MEANINGS, now)
  const { data } = answerBody.safeParse(json)
  if (data !== undefined) return data
  throw sourceFault('fish', 'source_bad_response', { upstreamStatus: status, reason: 'not the form of its records' })
}
