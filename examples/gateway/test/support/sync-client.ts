import { setTimeout } from 'node:timers/promises'
import { BOT_TOKEN, type FishRecord } from './sync.ts'

/** Records of a chunk, as existing clients send them. */
const CHUNK = 1_000
const RETRIED = new Set([500, 502, 503, 504])
const RETRY_MS = 50
const TIMEOUT_MS = 10_000
const MAX_TRIES = 400

export interface SyncClientOptions {
  /** Asked before every request: the server may have moved. */
  syncUrl(): string
  readonly qq: number
  readonly snapshotId: string
  readonly records: readonly FishRecord[]
  /** Called before a request is sent. */
  sending?(chunk: number): void
}

/**
 * Sends a full snapshot as existing clients do: chunk by chunk without an index, the identical payload again after
 * 500, 502 to 504 and no answer, never after another refusal. No stored record after some were sent is one, too.
 */
export async function syncSnapshot(options: SyncClientOptions): Promise<{ readonly tries: number }> {
  const { qq, snapshotId, records, sending } = options
  let tries = 0
  for (let start = 0; start < records.length; start += CHUNK) {
    const payload = JSON.stringify({
      qq,
      full_snapshot: true,
      snapshot_id: snapshotId,
      snapshot_final: start + CHUNK >= records.length,
      records: records.slice(start, start + CHUNK),
    })
    let stored: number | undefined
    while (stored === undefined) {
      if (++tries > MAX_TRIES) throw new Error('tried too often')
      sending?.(start / CHUNK)
      stored = await send(options.syncUrl(), payload)
      if (stored === undefined) await setTimeout(RETRY_MS)
    }
    if (stored === 0) throw new Error('refused: no record is stored')
  }
  return { tries }
}

/** How many records are stored; `undefined`: to be tried again. */
async function send(syncUrl: string, body: string): Promise<number | undefined> {
  const headers = { 'Bot-Token': BOT_TOKEN, 'Content-Type': 'application/json' }
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  let response: Response
  let text: string
  try {
    response = await fetch(`${syncUrl}/api/bot/sync`, { method: 'POST', headers, body, signal })
    text = await response.text()
  } catch {
    return undefined
  }
  if (RETRIED.has(response.status)) return undefined
  if (!response.ok) throw new Error(`refused with ${response.status}: ${text}`)
  return (JSON.parse(text) as { stored_records: number }).stored_records
}
