/** What a response says about one limit. */
export interface Usage {
  readonly name: string
  readonly limit: number
  readonly left: number
  /** Seconds until it's whole again; `undefined`: nothing is used. */
  readonly resetsIn: number | undefined
}

/** Reads `RateLimit` and `RateLimit-Policy`, in drafts 8 to 11. */
export function usagesOf(headers: Headers): Usage[] {
  const limits = new Map(itemsOf(headers.get('RateLimit-Policy')))
  return itemsOf(headers.get('RateLimit')).map(([name, { r, t }]) => ({
    name,
    limit: Number(limits.get(name)?.q),
    left: Number(r),
    resetsIn: t === undefined ? undefined : Number(t),
  }))
}

/** The entries of `"a";q=5;w=60, "b";q=9`, with their parameters. */
function itemsOf(field: string | null) {
  return [
    ...(field ?? '').matchAll(/"([^"]*)"((?:;[a-z]+=[^;,]+)*)/g),
  ].map(([, name = '', text = '']) => {
    const pairs = text.split(';').map((pair) => pair.split('='))
    const parameters: Record<string, string | undefined> =
      Object.fromEntries(pairs)
    return [name, parameters] as const
  })
}

const STEPS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

/** "in 15 minutes", in the reader's language. Never too early. */
export function relativeTime(seconds: number, locale?: string): string {
  const format = new Intl.RelativeTimeFormat(locale)
  const step = STEPS.find(([, length]) => seconds >= length)
  const [unit, length] = step ?? STEPS[3]
  return format.format(Math.ceil(seconds / length), unit)
}

/** The text beside a bar. */
export function usageText(usage: Usage, locale?: string): string {
  const { limit, left, resetsIn } = usage
  const number = new Intl.NumberFormat(locale)
  const counts = `${number.format(left)} / ${number.format(limit)}`
  if (resetsIn === undefined) return counts
  return `${counts}, ${relativeTime(resetsIn, locale)}`
}
