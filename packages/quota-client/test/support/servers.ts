import type { Timeline } from './timeline.ts'

/** How a server names what is left and when its window ends; its own clock is wrong by years. */
type Fields = (left: number, ms: number, date: number) => Record<string, string>

const seconds = (ms: number): string => String(Math.ceil(ms / 1000))
const WRONG_BY = Date.UTC(2019, 3, 1)

export const generations: Readonly<Record<string, Fields>> = {
  'drafts 8 to 11': (left, ms) => ({
    RateLimit: `"a";r=${left};t=${seconds(ms)}`,
    'RateLimit-Policy': '"a";q=10;w=60',
  }),
  'draft 7': (left, ms) => ({ RateLimit: `limit=10, remaining=${left}, reset=${seconds(ms)}` }),
  'drafts 3 to 6': (left, ms) => ({ 'RateLimit-Remaining': String(left), 'RateLimit-Reset': seconds(ms) }),
  'epoch seconds': (left, ms, date) => ({
    'X-RateLimit-Remaining': String(left),
    'X-RateLimit-Reset': String(Math.floor((date + ms) / 1000)),
  }),
  durations: (left, ms) => ({
    'x-ratelimit-remaining-requests': String(left),
    'x-ratelimit-reset-requests': `${ms}ms`,
  }),
  'RFC 3339': (left, ms, date) => ({
    'anthropic-ratelimit-requests-remaining': String(left),
    'anthropic-ratelimit-requests-reset': `${new Date(date + ms).toISOString().slice(0, 19)}Z`,
  }),
  'reset after': (left, ms) => ({
    'X-RateLimit-Remaining': String(left),
    'X-RateLimit-Reset-After': String(ms / 1000),
  }),
}

/** Ten requests a minute, each on its way for some time. */
export function server(
  timeline: Timeline,
  fields: Fields,
  limit = 10,
): { readonly fetch: typeof globalThis.fetch; readonly seen: { readonly taken: number[]; refused: number } } {
  const seen: { readonly taken: number[]; refused: number } = { taken: [], refused: 0 }
  let hash = 1
  const delay = (): number => {
    hash = (hash * 48_271) % 2_147_483_647
    return 1 + (hash % 40)
  }
  const fetch: typeof globalThis.fetch = async () => {
    await timeline.sleep(delay())
    const now = timeline.now()
    const window = Math.floor(now / 60_000)
    const taken = seen.taken[window] ?? 0
    const isRefused = taken >= limit
    if (isRefused) seen.refused++
    else seen.taken[window] = taken + 1
    const left = limit - (seen.taken[window] ?? 0)
    const ms = (window + 1) * 60_000 - now
    const date = new Date(WRONG_BY + now)
    const headers = new Headers({ Date: date.toUTCString(), ...fields(left, ms, date.getTime()) })
    if (isRefused) headers.set('Retry-After', seconds(ms))
    await timeline.sleep(delay())
    return new Response(null, { status: isRefused ? 429 : 200, headers })
  }
  return { fetch, seen }
}
