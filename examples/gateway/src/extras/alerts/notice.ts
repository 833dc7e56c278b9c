import type { Clock, Quota } from '@scoregw/quota'
import { ADAPTIVE_DEFAULTS, type FactorStore } from '@scoregw/quota/adaptive'
import { instantText } from '../../http/instant.ts'
import { outerPath, ownLayers } from '../../quota/layer-members.ts'
import type { OperationName } from '../../quota/policy.ts'
import { alertOf } from './alert.ts'
import type { AlertBook } from './alert-book.ts'

const HOUR_MS = 3_600_000
/** How often an alert repeats while counters are unavailable. */
const AWAY_MS = HOUR_MS / 6
const FAULTY_MS = 24 * HOUR_MS
/** The most faults in one alert. */
const MAX_FAULTS = 20

export interface NoticeDeps {
  readonly quota: Quota<OperationName>
  readonly book: Pick<AlertBook, 'note'>
  readonly clock: Clock
  /** Whether this layer's limits raise alerts. */
  isAlerted(layer: string): boolean
}

/**
 * Notes an engine's events, until the returned function is called. For limits, the occasion is an opening and a
 * threshold, so all processes note the same one.
 */
export function noticeEvents({ quota, book, clock, isAlerted }: NoticeDeps): () => void {
  const own = ownLayers(quota.policy)
  const stops = [
    quota.on('nearLimit', ({ subject, window: limit, threshold, decision: { now } }) => {
      if (!isAlerted(limit.layer)) return
      const { layer, scope, category, window, kind, used, remaining, startedAt, resetAt, enforced } = limit
      const ownKey = typeof subject === 'string' ? subject : (subject[layer] ?? null)
      const key = own.includes(layer) ? ownKey : null
      // Slots have no opening, so repeated crossings raise one alert per hour.
      const opening = startedAt ?? Math.floor(now / HOUR_MS) * HOUR_MS
      const occasion = [layer, category, window, kind, key, opening, threshold]
      const data = {
        layer,
        scope,
        category,
        window,
        userId: key,
        threshold,
        limit: limit.limit,
        used,
        remaining,
        enforced,
        startedAt: startedAt === null ? null : instantText(startedAt),
        resetAt: resetAt === null ? null : instantText(resetAt),
      }
      book.note(alertOf('limit.near', now, occasion, data))
    }),
    quota.on('settingsFault', ({ of, faults }) => {
      const now = clock.now()
      const shown = faults.slice(0, MAX_FAULTS).map(({ path, message }) => ({ path: outerPath(path), msg: message }))
      const data = { of, faults: shown, count: faults.length }
      book.note(alertOf('settings.fault', now, [of, shown, Math.floor(now / FAULTY_MS)], data))
    }),
  ]
  let alertedStretch: number | undefined
  stops.push(
    quota.on('degraded', ({ category, allowed }) => {
      const now = clock.now()
      const stretch = Math.floor(now / AWAY_MS)
      // The event may come with every request.
      if (stretch === alertedStretch) return
      alertedStretch = stretch
      const outcome = allowed ? 'admitted' : 'unavailable'
      book.note(alertOf('counters.away', now, [stretch], { category, outcome }))
    }),
  )
  return () => {
    for (const stop of stops) stop()
  }
}

/** Notes that the factor of mode `adaptive` has reached a bound. The occasion is the move. */
export async function noticeFactor(
  { quota, book }: Pick<NoticeDeps, 'quota' | 'book'>,
  factorStore: Pick<FactorStore, 'read'>,
): Promise<void> {
  if (quota.inForce().settings.mode !== 'adaptive') return
  const { state } = (await factorStore.read()) ?? {}
  const move = state?.history[0]
  if (state === undefined || move === undefined) return
  const { minHundredths, maxHundredths } = ADAPTIVE_DEFAULTS
  const { factorHundredths } = state
  if (factorHundredths !== minHundredths && factorHundredths !== maxHundredths) return
  const bound = factorHundredths === minHundredths ? 'lowest' : 'highest'
  const data = { factor: factorHundredths / 100, bound, code: move.code }
  book.note(alertOf('factor.bound', move.at, [bound, move.at], data))
}
