import type { ComponentChildren, JSX } from 'preact'
import type { Overview } from '../../api/api.ts'
import { useNames } from '../../words/names.ts'
import { useFormats, useWords } from '../../words/words.ts'
import { ProcessMark } from './cards.tsx'
import { headroomOf, rateChange, refusedShares, tightestOf } from './figures.ts'
import { useOverviewWords } from './words.ts'

export function KeyFigures({ of }: { of: Overview }): JSX.Element {
  const words = useOverviewWords()
  const { modes } = useWords()
  const formats = useFormats()
  const names = useNames()
  const { requests, shared, adaptive } = of
  const [refused, refusedBefore] = refusedShares(requests)
  const tightest = tightestOf(shared)
  const headroom = tightest === undefined ? 1 : headroomOf(tightest)
  const change = rateChange(requests)
  const noTightest = shared === null ? words.sharedAway : words.noShared
  return (
    <dl class="figures">
      <Figure
        name={words.perSecond}
        mark={<ProcessMark />}
        value={formats.number(Math.round(requests.perSecond * 10) / 10)}
      >
        {change === undefined ? (
          words.noTrend
        ) : (
          <Trend by={change} least={0.05}>
            {words.trendRate(formats.percent(Math.abs(change)))}
          </Trend>
        )}
      </Figure>
      <Figure
        name={words.refusedShare}
        mark={requests.minutes === null && <ProcessMark />}
        value={formats.percent(refused)}
        kind={refused > 0 ? 'ending refused' : ''}
      >
        <Trend by={refused - refusedBefore} least={0.005}>
          {words.trendRefused(formats.percent(refusedBefore))}
        </Trend>
      </Figure>
      <Figure name={words.headroom} value={tightest === undefined ? '–' : words.leftShare(formats.percent(headroom))}>
        {tightest === undefined ? noTightest : <span class="figure-name">{names.limit(tightest.name)}</span>}
      </Figure>
      <Figure name={words.factor} value={`×${formats.factor(adaptive.factor)}`} isQuiet={!adaptive.isActive}>
        {adaptive.isActive
          ? words.factorOn(formats.factor(adaptive.min), formats.factor(adaptive.max))
          : words.factorOff(modes[adaptive.mode])}
      </Figure>
    </dl>
  )
}

interface FigureProps {
  readonly name: string
  readonly value: string
  readonly mark?: ComponentChildren
  /** The CSS classes of its outcome, if it counts one. */
  readonly kind?: string
  readonly isQuiet?: boolean
  /** Its trend, or what it refers to. */
  readonly children: ComponentChildren
}

function Figure({ name, value, mark, kind = '', isQuiet = false, children }: FigureProps): JSX.Element {
  return (
    <div class="figure">
      <dt>
        {name} {mark}
      </dt>
      <dd class={`figure-value ${kind} ${isQuiet ? 'quiet' : ''}`}>{value}</dd>
      <dd class="small quiet">{children}</dd>
    </div>
  )
}

interface TrendProps {
  /** The rise of the figure; negative for a fall. */
  readonly by: number
  /** Smaller changes are shown as steady. */
  readonly least: number
  readonly children: ComponentChildren
}

/** An arrow, named for screen readers. It doesn't judge whether a rise is good. */
function Trend({ by, least, children }: TrendProps): JSX.Element {
  const words = useOverviewWords()
  if (Math.abs(by) < least) return <>{words.steady}</>
  return (
    <>
      <span role="img" aria-label={by > 0 ? words.rose : words.fell}>
        {by > 0 ? '▲' : '▼'}
      </span>{' '}
      {children}
    </>
  )
}
