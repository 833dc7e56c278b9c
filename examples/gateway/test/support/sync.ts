import { type Answer, type SendOptions, sender } from './gateway.ts'

export const BOT_TOKEN = 'bot-test-0123456789'

/** A record as Diving-Fish has it. */
export interface FishRecord {
  readonly song_id: number
  readonly level_index: number
  readonly achievements: number
  readonly dxScore: number
  readonly fc: string
  readonly fs: string
}

/** A record with something in every member. */
export function recordOf(songId: number, levelIndex = 3, more: Partial<FishRecord> = {}): FishRecord {
  return { song_id: songId, level_index: levelIndex, achievements: 100.5, dxScore: 1500, fc: 'fc', fs: 'fs', ...more }
}

/** So many records of different charts, as wordy as those that bots send. */
export function manyRecords(count: number, firstSongId = 1): FishRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    ...recordOf(firstSongId + Math.floor(index / 5), index % 5, { achievements: 90 + (index % 100_000) / 10_000 }),
    title: `音楽のタイトル ${index}`,
    level: '13+',
    level_label: 'Master',
    type: 'DX',
    ds: 13.7,
    ra: 300,
    rate: 'sss',
  }))
}

/** Sends requests to score sync, as a bot. */
export interface Bot {
  sync(body: unknown, options?: SendOptions): Promise<Answer>
  get(path: string, options?: SendOptions): Promise<Answer>
}

export function botOf(syncUrl: string, token: string = BOT_TOKEN): Bot {
  const send = sender(syncUrl, 'sync')
  const headers = { 'Bot-Token': token }
  return {
    sync: (body, options) => send('POST', '/api/bot/sync', { token: null, headers, body, ...options }),
    get: (path, options) => send('GET', path, { token: null, headers, ...options }),
  }
}
