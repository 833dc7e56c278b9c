/** The state of one limit, as reported by a response. */
export interface ReportedLimit {
  readonly name: string
  readonly remaining: number
  /** Milliseconds from the response until more is available. */
  readonly resetMs: number
}

/**
 * Larger numbers are seconds since 1970, or milliseconds. No window is thirty years long, and longer waits are ignored.
 */
const EPOCH_SECONDS = 1e9
const EPOCH_MS = 1e12
const WHOLE_SECOND_MS = 1000
/** Shopify's bucket leaks at least two requests per second. Shopify reports no reset. */
const SHOPIFY_LEAK_MS = 500

/** Starts names only where no other name continues, so that a long field is scanned in one pass. */
const ITEM =
  /(?:(?<!\\)"((?:[^"\\]|\\.)*)"|(?<![\w*.:/-])([a-z*][\w*.:/-]*))((?:\s*;\s*[a-z]+=(?:"(?:[^"\\]|\\.)*"|[^;,"\s]+))+)/gi
const PARAMETER = /;\s*([a-z]+)=([^;,"\s]+)/gi
const FAMILY = /^(?:x-)?rate-?limit-(remaining|reset-after|reset)(?:-(.+))?$/
const ANTHROPIC = /^anthropic-ratelimit-(.+)-(remaining|reset)$/
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|h|m|s))+$/
const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 }

/** Returns the limits that a response reports, in any of the known header formats. */
export function readLimits(headers: Headers): readonly ReportedLimit[] {
  const combined = headers.get('ratelimit')
  const drafted = combined === null ? [] : draftLimits(combined, headers.get('ratelimit-policy') ?? '')
  if (drafted.length > 0) return drafted
  const parts = new Map<string, { remaining?: string; reset?: string; after?: string }>()
  const partOf = (name: string) => {
    const part = parts.get(name) ?? {}
    parts.set(name, part)
    return part
  }
  headers.forEach((value, header) => {
    const family = FAMILY.exec(header)
    const [, name = family?.[2] ?? '', what = family?.[1]] = ANTHROPIC.exec(header) ?? []
    if (what === 'remaining') partOf(name).remaining = value
    else if (what === 'reset') partOf(name).reset = value
    else if (what === 'reset-after') partOf(name).after = value
  })
  const limits = [...parts].flatMap(([name, part]) =>
    limitOf(name, part.remaining, waitOf(part.after ?? part.reset, headers)),
  )
  const [, used, size] = /^(\d+)\/(\d+)$/.exec(headers.get('x-shopify-shop-api-call-limit') ?? '') ?? []
  return [...limits, ...limitOf('shopify', size && String(Math.max(0, Number(size) - Number(used))), SHOPIFY_LEAK_MS)]
}

/** Returns `Retry-After` in milliseconds; `undefined` if it is missing or invalid. */
export function readRetryAfter(headers: Headers): number | undefined {
  return waitOf(headers.get('retry-after') ?? undefined, headers)
}

function limitOf(name: string, remaining: string | undefined, resetMs: number | undefined): readonly ReportedLimit[] {
  const left = remaining === undefined || remaining.trim() === '' ? Number.NaN : Number(remaining)
  return resetMs !== undefined && left >= 0 && left < Number.POSITIVE_INFINITY
    ? [{ name, remaining: left, resetMs }]
    : []
}

/** Drafts 8 to 11 (`"name";r=50;t=30`) and draft 7 (`limit=100, remaining=50, reset=30`). */
function draftLimits(text: string, policy: string): readonly ReportedLimit[] {
  const policies = new Map(itemsOf(policy))
  const items = itemsOf(text).flatMap(([name, { r, t }]) => {
    const seconds = t ?? policies.get(name)?.w
    return limitOf(name, r, seconds === undefined ? undefined : secondsOf(seconds))
  })
  if (items.length > 0) return items
  const [, remaining] = /\bremaining=(\d+)/.exec(text) ?? []
  const [, reset] = /\breset=(\d+)/.exec(text) ?? []
  return limitOf('', remaining, reset === undefined ? undefined : secondsOf(reset))
}

function itemsOf(text: string): readonly (readonly [string, Readonly<Record<string, string>>])[] {
  return [...text.matchAll(ITEM)].map(([, quoted, token, parameters]) => [
    quoted ?? token ?? '',
    Object.fromEntries([...(parameters ?? '').matchAll(PARAMETER)].map(([, key, value]) => [key, value])),
  ])
}

function secondsOf(text: string): number | undefined {
  return readableMs(Number(text) * 1000)
}

function readableMs(ms: number): number | undefined {
  return ms >= 0 && ms < EPOCH_MS ? ms : undefined
}

/**
 * Parses seconds, a duration (`6m0s`), or an instant, which is compared with the server's `Date`. Returns milliseconds.
 */
function waitOf(value: string | undefined, headers: Headers): number | undefined {
  const text = value?.trim() ?? ''
  if (text === '') return undefined
  if (DURATION.test(text)) {
    const parts = text.matchAll(/([\d.]+)(ms|h|m|s)/g)
    const ms = [...parts].reduce((sum, [, count, unit]) => sum + Number(count) * (UNIT_MS[unit as string] as number), 0)
    return readableMs(ms)
  }
  const number = Number(text)
  if (number < EPOCH_SECONDS) return secondsOf(text)
  const epochMs = number < EPOCH_MS ? number * 1000 : number
  const instant = Number.isNaN(number) ? Date.parse(text) : epochMs
  const sent = Date.parse(headers.get('date') ?? '')
  // Both may be truncated to whole seconds, so one is added: never retry too early.
  return readableMs(Math.max(0, instant - (Number.isNaN(sent) ? Date.now() : sent)) + WHOLE_SECOND_MS)
}
