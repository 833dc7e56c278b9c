import type { JSX } from 'preact'
import { useNames } from '../words/names.ts'
import { useFormats, useWords } from '../words/words.ts'

/** From this share on, a limit is nearly used up. */
const NEAR = 0.8

interface LimitBarProps {
  readonly of: {
    /** The layer's name for people, such as `Site`. */
    readonly scope: string
    readonly category: string
    readonly window: string
    readonly limit: number | 'unlimited'
    readonly used: number
    readonly held?: number
    readonly remaining: number | 'unlimited'
    readonly resetAt: string | null
  }
  /** Whether a heading already names the category. */
  readonly isNested?: boolean
  /** A time in words. The exact time is the tooltip. */
  timeText(instant: string): string
}

export function LimitBar({ of, isNested = false, timeText }: LimitBarProps): JSX.Element {
  const { users: words } = useWords()
  const names = useNames()
  const formats = useFormats()
  const { scope, category, window, used, held, resetAt } = of
  const [limit, remaining] = [Number(of.limit), Number(of.remaining)]
  // A limit of 0, or below its usage, counts as full.
  const share = limit === 0 ? 1 : Math.min(1, used / limit)
  const name = names.cell(scope, category, window)
  return (
    <div class="bar">
      <span class="bar-name">{isNested ? `${names.layer(scope)} · ${names.window(window)}` : name}</span>
      <span class="bar-used">
        {words.used(formats.number(used), formats.number(limit))}
        {held !== undefined && <span class="quiet small held">{words.held(formats.number(held))}</span>}
      </span>
      <meter aria-label={name} class={share >= NEAR ? 'near' : ''} value={share} />
      <span class="quiet small">{words.left(formats.number(remaining))}</span>
      <span class="quiet small end" title={resetAt === null ? undefined : formats.dateTime(resetAt)}>
        {resetAt === null ? words.notOpen : words.ends(timeText(resetAt))}
      </span>
    </div>
  )
}
