import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'
import type { Overview } from '../../api/api.ts'
import { LimitBar } from '../../ui/limit-bar.tsx'
import { useNames } from '../../words/names.ts'
import { useFormats } from '../../words/words.ts'
import { useOverviewWords } from './words.ts'

interface CardProps {
  readonly title: string
  /** Whether the figures cover this process or all. */
  readonly of: 'process' | 'all'
  readonly children: ComponentChildren
}

export function Card({ title, of, children }: CardProps): JSX.Element {
  const id = useId()
  return (
    <section aria-labelledby={id}>
      <div class="card-head">
        <h2 id={id}>{title}</h2>
        {of === 'process' && <ProcessMark />}
      </div>
      {children}
    </section>
  )
}

/** Marks figures of the responding process. All others cover all processes. */
export function ProcessMark(): JSX.Element {
  const overview = useOverviewWords()
  return (
    <span class="process-mark" role="img" aria-label={overview.ofProcess} title={overview.ofProcess}>
      ◐
    </span>
  )
}

export function Refusals({ of: { since, limits, degraded } }: { of: Overview['refusals'] }): JSX.Element {
  const overview = useOverviewWords()
  const names = useNames()
  const formats = useFormats()
  return (
    <Card title={overview.refusals} of="process">
      {degraded > 0 && <p class="notice warning">{overview.degraded(formats.number(degraded))}</p>}
      {limits.length === 0 ? (
        <p class="quiet">{overview.noRefusals}</p>
      ) : (
        <table class="full">
          <caption>{overview.refusalsSince(formats.time(since))}</caption>
          <thead>
            <tr>
              <th scope="col">{overview.limit}</th>
              <th scope="col" class="number">
                {overview.count}
              </th>
            </tr>
          </thead>
          <tbody>
            {limits.map(({ name, count }) => (
              <tr key={name}>
                <th scope="row">{names.limit(name)}</th>
                <td class="number">{formats.number(count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  )
}

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
          key={each.name}
          of={each}
          name={names.limit(each.name)}
          timeText={(instant) => formats.relative(instant, now)}
        />
      ))}
    </Card>
  )
}
