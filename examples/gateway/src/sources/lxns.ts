import type { Clock } from '@scoregw/quota'
import * as z from 'zod'
import type { PlayRecord } from '../scores/score.ts'
import { type Forwarded, type Forwarder, type Meanings, parseJson, refusal } from './forwarder.ts'
import { fields, LEAST_UTAGE_ID, MAX_RECORDS, playOf, readRecords } from './records.ts'
import { credentialField, type FetchedScores, type ScoreSource, sourceFault } from './score-source.ts'

const MEANINGS: Meanings = { 401: 'source_credential_rejected', 403: 'source_credential_rejected' }

/** The form of every response. The message is ignored, since it is never shown. */
const envelope = z.discriminatedUnion('success', [
  z.object({ success: z.literal(true), data: z.array(z.unknown()).max(MAX_RECORDS) }),
  z.object({ success: z.literal(false), code: z.int().min(400).max(599) }),
])

/** The source's ids by type, and how they become ours: standard and DX charts share theirs. */
const IDS = {
  standard: { least: 1, most: 9_999, offset: 0 },
  dx: { least: 1, most: 9_999, offset: 10_000 },
  utage: { least: LEAST_UTAGE_ID, most: 999_999, offset: 0 },
} as const

const record: z.ZodType<PlayRecord> = z
  .object({
    id: z.int('expected a whole number'),
    type: z.enum(['standard', 'dx', 'utage'], 'expected standard, dx or utage'),
    level_index: fields.levelIndex,
    achievements: fields.achievement,
    dx_score: fields.dxScore,
    fc: fields.combo,
    fs: fields.sync,
    play_time: z.unknown().optional(),
  })
  .transform(({ id, type, ...rest }, context) => {
    const { least, most, offset } = IDS[type]
    if (id < least || id > most) {
      context.addIssue({ code: 'custom', path: ['id'], message: `expected ${least} to ${most}, since type is ${type}` })
      return z.NEVER
    }
    return playOf({
      musicId: id + offset,
      levelIndex: rest.level_index,
      achievement: rest.achievements,
      dxScore: rest.dx_score,
      comboStatus: rest.fc,
      syncStatus: rest.fs,
      playedAt: instantOf(rest.play_time),
    })
  })

/** An instant with a time zone, in this century. Any other time counts as unknown. */
const instant = z.iso.datetime({ offset: true }).regex(/^20/).transform(Date.parse)

function instantOf(value: unknown): number | null {
  return instant.safeParse(value).data ?? null
}

/** LXNS, called with the player's own token, or with an access token of its OAuth. */
export function lxns(forwarder: Forwarder, clock: Clock): ScoreSource {
  return {
    async fetchScores(credential, signal): Promise<FetchedScores> {
      const answer = await forwarder.get(
        '/user/maimai/player/scores',
        credentialField(credential, 'X-User-Token'),
        signal,
      )
      return readRecords(dataOf(answer, clock.now()), 'data', record)
    },
  }
}

function dataOf(answer: Forwarded, now: number): readonly unknown[] {
  const { data: body } = envelope.safeParse(parseJson(answer.text))
  const isRefusedInside = body?.success === false
  if (isRefusedInside || answer.status !== 200) {
    throw refusal('lx', isRefusedInside ? body.code : answer.status, answer, MEANINGS, now)
  }
  if (body !== undefined) return body.data
  throw sourceFault('lx', 'source_bad_response', {
    upstreamStatus: answer.status,
    reason: 'not the form of its scores',
  })
}
