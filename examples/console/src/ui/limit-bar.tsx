import type { JSX } from 'preact'
import type { WindowStatus } from '../api/documents.ts'
import { useNames } from '../words/names.ts'
import { useFormats, useWords } from '../words/words.ts'

/** From this share on, a limit is nearly used up. */
const NEAR = 0.8

interface LimitBarProps {
  readonly of: Omit<WindowStatus, 'startedAt'> & { readonly category: string }
  /** Whether a heading already names the category. */
  readonly isNested?: boolean
  /** A time in words. The exact time is the tooltip. */
  timeText(instant: string): string
}

export function LimitBar({ of, isNested = false, timeText }: LimitBarProps): JSX.Element {
  const words = useWords()
  const names = useNames()
  const formats = useFormats()
  const { layer, category, window, limit, burst = limit, used, held, remaining, kind, resetAt, enforced } = of
  const numberOf = (value: number | 'unlimited'): string =>
    value === 'unlimited' ? words.users.unlimited : formats.number(value)
  const share = shareOf(used, burst)
  const name = names.cell(layer, category, window)
  return (
    <div class="bar">
      <span class="bar-name">
        {isNested ? `${names.layer(layer)} · ${names.window(window)}` : name}
        {!enforced && <span class="tag not-enforced">{words.settings.notEnforced}</span>}
      </span>
      <span class="bar-used">
        {words.users.used(formats.number(used), numberOf(burst))}
        {held !== undefined && <span class="quiet small held">{words.users.held(formats.number(held))}</span>}
      </span>
      <meter aria-label={name} class={share >= NEAR ? 'near' : ''} value={share} />
      <span class="quiet small">
        {words.users.left(numberOf(remaining))}
        {kind === 'bucket' && words.users.comesBack(numberOf(limit))}
      </span>
      <span class="quiet small end" title={resetAt === null ? undefined : formats.dateTime(resetAt)}>
        {useEnds(of, timeText)}
      </span>
    </div>
  )
}

/** The end of a window, or when a bucket is full again. Slots have neither. */
function useEnds(
  { kind, resetAt }: Pick<WindowStatus, 'kind' | 'resetAt'>,
  timeText: (instant: string) => string,
): string | undefined {
  const { ends, notOpen, full, fullAgain } = useWords().users
  if (kind === 'concurrency') return undefined
  if (kind === 'bucket') return resetAt === null ? full : fullAgain(timeText(resetAt))
  return resetAt === null ? notOpen : ends(timeText(resetAt))
}

/** From 0 to 1. A limit of 0, or below its usage, counts as full. */
function shareOf(used: number, limit: number | 'unlimited'): number {
  if (limit === 'unlimited') return 0
  return limit === 0 ? 1 : Math.min(1, used / limit)
}
