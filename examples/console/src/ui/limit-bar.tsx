import type { JSX } from 'preact'
import { useFormats, useWords } from '../words/words.ts'

/** From this share on, a limit is nearly used up. */
export const NEAR = 0.8

interface LimitBarProps {
  readonly of: {
    readonly limit: number | 'unlimited'
    readonly used: number
    readonly held?: number
    readonly remaining: number | 'unlimited'
    readonly resetAt: string | null
  }
  /** The limit's name for people. */
  readonly name: string
  /** A shorter one, under a heading that tells the rest. */
  readonly label?: string
  /** A time in words. The exact time is the tooltip. */
  timeText(instant: string): string
}

export function LimitBar({ of, name, label = name, timeText }: LimitBarProps): JSX.Element {
  const { users: words } = useWords()
  const formats = useFormats()
  const { used, held, resetAt } = of
  const [limit, remaining] = [Number(of.limit), Number(of.remaining)]
  // A limit of 0, or below its usage, counts as full.
  const share = limit === 0 ? 1 : Math.min(1, used / limit)
  return (
    <div class="bar">
      <span class="bar-name">{label}</span>
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
