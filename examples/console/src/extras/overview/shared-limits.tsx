import type { JSX } from 'preact'
import type { Overview } from '../../api/api.ts'
import { useEnds } from '../../words/ends.ts'
import { useNames } from '../../words/names.ts'
import { useFormats, useWords } from '../../words/words.ts'
import { Card } from './card.tsx'
import { useOverviewWords } from './words.ts'

type Limit = NonNullable<Overview['shared']>[number]

/** From here on a limit is nearly used up. */
const NEAR = 0.8

/** The remaining tokens of shared limits. */
export function SharedLimits(of: {
  readonly limits: Overview['shared']
  readonly disabled: Overview['disabled']
  /** The gateway's clock, epoch milliseconds. */
  readonly now: number
}): JSX.Element {
  const { limits, disabled, now } = of
  const overview = useOverviewWords()
  const names = useNames()
  return (
    <Card title={overview.shared} of="all">
      {disabled.map((layer) => (
        <p key={layer}>{overview.disabled(names.layer(layer))}</p>
      ))}
      {limits === null && <p class="notice warning">{overview.sharedAway}</p>}
      {limits?.length === 0 && disabled.length === 0 && <p class="quiet">{overview.noShared}</p>}
      {limits?.map((each) => (
        <Bar key={JSON.stringify([each.layer, each.category, each.window])} of={each} now={now} />
      ))}
    </Card>
  )
}

function Bar({ of, now }: { of: Limit; now: number }): JSX.Element {
  const words = useWords()
  const names = useNames()
  const formats = useFormats()
  const { layer, category, window, kind, limit, burst = limit, used, remaining, resetAt, enforced } = of
  const numberOf = (value: number | 'unlimited'): string =>
    value === 'unlimited' ? words.users.unlimited : formats.number(value)
  const share = shareOf(used, burst)
  const ends = useEnds(of, (instant) => formats.relative(instant, now))
  return (
    <div class="bar">
      <span class="bar-name">
        {names.cell(layer, category, window)}
        {!enforced && <span class="tag not-enforced">{words.settings.notEnforced}</span>}
      </span>
      <span class="bar-used">{words.users.used(formats.number(used), numberOf(burst))}</span>
      <meter aria-label={names.cell(layer, category, window)} class={share >= NEAR ? 'near' : ''} value={share} />
      <span class="quiet small">
        {words.users.left(numberOf(remaining))}
        {kind === 'bucket' && words.users.comesBack(numberOf(limit))}
      </span>
      <span class="quiet small end" title={resetAt === null ? undefined : formats.dateTime(resetAt)}>
        {ends}
      </span>
    </div>
  )
}

/** From 0 to 1. A limit that was lowered below its use, or blocks, is full. */
function shareOf(used: number, limit: number | 'unlimited'): number {
  if (limit === 'unlimited') return 0
  return limit === 0 ? 1 : Math.min(1, used / limit)
}
