import type { ComponentChildren, JSX } from 'preact'
import { useRef } from 'preact/hooks'
import type { Overview } from '../../api/api.ts'
import { useNames } from '../../words/names.ts'
import { useFormats, useWords } from '../../words/words.ts'
import { ProcessMark } from './card.tsx'
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
  const at = Date.parse(of.at)
  const headroomBefore = useMinuteAgo(at, headroom)
  const factorBefore = useMinuteAgo(at, adaptive.factor)
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
        {tightest === undefined ? (
          noTightest
        ) : (
          <>
            <span class="figure-name">{names.cell(tightest.layer, tightest.category, tightest.window)}</span>
            <br />
            <Trend by={headroom - headroomBefore} least={0.001}>
              {words.trendPoints(formats.percent(Math.abs(headroom - headroomBefore)))}
            </Trend>
          </>
        )}
      </Figure>
      <Figure name={words.factor} value={`×${formats.factor(adaptive.factor)}`} isQuiet={!adaptive.isActive}>
        {adaptive.isActive ? (
          <>
            {words.factorOn(formats.factor(adaptive.min), formats.factor(adaptive.max))}
            <br />
            <Trend by={adaptive.factor - factorBefore} least={0.005}>
              {words.trendPoints(formats.factor(Math.abs(adaptive.factor - factorBefore)))}
            </Trend>
          </>
        ) : (
          words.factorOff(modes[adaptive.mode])
        )}
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

const MINUTE_MS = 60_000

/** A value's state one minute ago, or as long ago as the page has been open. */
function useMinuteAgo(at: number, value: number): number {
  const seen = useRef<{ readonly at: number; readonly value: number }[]>([])
  const all = seen.current
  if (all.at(-1)?.at !== at) all.push({ at, value })
  while ((all[1]?.at ?? at) <= at - MINUTE_MS) all.shift()
  return all[0]?.value ?? value
}
