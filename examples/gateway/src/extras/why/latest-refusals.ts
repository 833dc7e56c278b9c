import type { Clock } from '@scoregw/quota'
import * as z from 'zod'
import { instantText, isoInstant } from '../../http/instant.ts'
import type { UsageRecorder } from '../../usage/usage-recorder.ts'
import type { UsageRecords } from '../../usage/usage-records.ts'

const HOUR_MS = 3_600_000
/** Most refusals that are counted: enough to see who is refused, and quick to read. */
const MOST = 1_000
/** Most groups of the answer. */
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
  resetAt: isoInstant.describe('When the limit that refused last had room again.'),
})

export const latestRefusals = z.object({ since: isoInstant, refusals: z.array(refusalGroup) })

type Group = z.output<typeof refusalGroup>

export interface LatestRefusalsDeps {
  readonly usage: { readonly records: UsageRecords; readonly recorder: UsageRecorder }
  readonly clock: Clock
}

/** Who was refused in the last hour, by which limit: over all processes, grouped. */
export class LatestRefusals {
  readonly #deps: LatestRefusalsDeps

  constructor(deps: LatestRefusalsDeps) {
    this.#deps = deps
  }

  async read(): Promise<z.output<typeof latestRefusals>> {
    const { usage, clock } = this.#deps
    // So that what this process has just answered is there too.
    await usage.recorder.flush()
    const since = clock.now() - HOUR_MS
    const groups = new Map<string, Group>()
    // The newest first: the first of a group is its last refusal.
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
