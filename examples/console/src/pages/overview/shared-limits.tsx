import type { JSX } from 'preact'
import type { Overview } from '../../api/api.ts'
import { LimitBar } from '../../ui/limit-bar.tsx'
import { useNames } from '../../words/names.ts'
import { useFormats } from '../../words/words.ts'
import { Card } from './card.tsx'
import { useOverviewWords } from './words.ts'

export function SharedLimits(of: {
  readonly limits: Overview['shared']
  readonly disabled: Overview['disabled']
  /** The gateway's clock, epoch milliseconds. */
  readonly now: number
}): JSX.Element {
  const { limits, disabled, now } = of
  const overview = useOverviewWords()
  const names = useNames()
  const formats = useFormats()
  return (
    <Card title={overview.shared} of="all">
      {disabled.map((layer) => (
        <p key={layer}>{overview.disabled(names.layer(layer))}</p>
      ))}
      {limits === null && <p class="notice warning">{overview.sharedAway}</p>}
      {limits?.length === 0 && disabled.length === 0 && <p class="quiet">{overview.noShared}</p>}
      {limits?.map((each) => (
        <LimitBar
          key={JSON.stringify([each.layer, each.category, each.window])}
          of={each}
          timeText={(instant) => formats.relative(instant, now)}
        />
      ))}
    </Card>
  )
}
