import type { Clock } from '@scoregw/quota'
import * as z from 'zod'
import { instantText, isoInstant } from '../../http/instant.ts'
import type { UsageRecorder } from '../../usage/usage-recorder.ts'
import type { UsageRecords } from '../../usage/usage-records.ts'

const HOUR_MS = 3_600_000
/** The most refusals read: enough for an overview, and still fast. */
const MOST = 1_000
/** The most groups in the response. */
const MOST_GROUPS = 50

const refusalGroup = z.object({
  userId: z.string(),
  operation: z.string(),
  category: z.string(),
  layer: z.string(),
  scope: z.string(),
  window: z.string(),
  count: z.int().min(1),
  lastAt: isoInstant,
  resetAt: isoInstant.describe('When the last refusing limit had room again.'),
})

export const latestRefusals = z.object({ since: isoInstant, refusals: z.array(refusalGroup) })

type Group = z.output<typeof refusalGroup>

export interface LatestRefusalsDeps {
  readonly usage: { readonly records: UsageRecords; readonly recorder: UsageRecorder }
  readonly clock: Clock
}

/** Groups the refusals of the last hour by user and limit, from all processes. */
export class LatestRefusals {
  readonly #deps: LatestRefusalsDeps

  constructor(deps: LatestRefusalsDeps) {
    this.#deps = deps
  }

  async read(): Promise<z.output<typeof latestRefusals>> {
    const { usage, clock } = this.#deps
    // Include the requests of this process up to now.
    await usage.recorder.flush()
    const since = clock.now() - HOUR_MS
    const groups = new Map<string, Group>()
    // Newest first, so the first of a group is its last refusal.
    for (const { userId, operation, category, at, refusal } of await usage.records.refusedSince(since, MOST)) {
      if (refusal === null) continue
      const { layer, scope, window, resetAt } = refusal
      const key = JSON.stringify([userId, operation, layer, category, window])
      const group = groups.get(key)
      if (group !== undefined) group.count++
      else {
        const ends = { lastAt: instantText(at), resetAt: instantText(resetAt) }
        groups.set(key, { userId, operation, category, layer, scope, window, count: 1, ...ends })
      }
    }
    return { since: instantText(since), refusals: [...groups.values()].slice(0, MOST_GROUPS) }
  }
}
