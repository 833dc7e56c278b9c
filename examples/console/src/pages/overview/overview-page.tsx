import './overview.css'
import type { JSX } from 'preact'
import type { Overview } from '../../api/api.ts'
import { Skeleton } from '../../ui/loaded.tsx'
import { ErrorNotice } from '../../ui/notice.tsx'
import { useNames } from '../../words/names.ts'
import { useFormats, useSpeech } from '../../words/words.ts'
import { Refusals, SharedLimits } from './cards.tsx'
import { KeyFigures } from './key-figures.tsx'
import { problemsOf } from './problems.ts'
import { TopUsers } from './top-users.tsx'
import { Traffic } from './traffic.tsx'
import { type Live, useLive } from './use-live.ts'
import { useOverviewWords } from './words.ts'

export function OverviewPage(): JSX.Element {
  const overview = useOverviewWords()
  const live = useLive()
  return (
    <div class="overview">
      <div class="page-head">
        <h1>{overview.title}</h1>
        <Line live={live} />
      </div>
      {live.data === undefined ? (
        <Skeleton lines={16} />
      ) : (
        <Figures of={live.data} isLive={live.downSince === undefined} />
      )}
    </div>
  )
}

function Line({ live: { data, downSince, error } }: { live: Live }): JSX.Element {
  const overview = useOverviewWords()
  const formats = useFormats()
  const isDown = downSince !== undefined
  return (
    <div class="line-state">
      <p class={isDown ? 'notice warning' : 'quiet small'} role="status">
        {isDown && `${overview.down(formats.timeOfDay(downSince))}${data === undefined ? '' : ` ${overview.stale}`}`}
        {!isDown && data === undefined && overview.connecting}
      </p>
      {!isDown && data !== undefined && (
        <p class="quiet small">
          <span class="live-dot" aria-hidden="true" />
          {overview.live(formats.timeOfDay(data.at))}
        </p>
      )}
      <ErrorNotice error={error} />
    </div>
  )
}

function Figures({ of, isLive }: { of: Overview; isLive: boolean }): JSX.Element {
  const overview = useOverviewWords()
  const formats = useFormats()
  return (
    <>
      <State of={of} isLive={isLive} />
      <KeyFigures of={of} />
      <div class="cards parts">
        <Traffic of={of} />
        <div>
          <Refusals of={of.refusals} />
          <TopUsers kind="refused" since={of.top.since} users={of.top.refused} />
        </div>
        <div>
          <TopUsers kind="spent" since={of.top.since} users={of.top.spent} />
        </div>
        <div>
          <SharedLimits limits={of.shared} disabled={of.disabled} now={Date.parse(of.at)} />
        </div>
      </div>
      <p class="quiet small process-note">◐ {overview.process(of.process.id, formats.dateTime(of.process.since))}</p>
    </>
  )
}

function State({ of, isLive }: { of: Overview; isLive: boolean }): JSX.Element {
  const overview = useOverviewWords()
  const problems = problemsOf(of, useSpeech(), useNames())
  const isGood = problems.length === 0 && isLive
  const text = problems.length === 0 ? overview.noProblems : overview.problems(problems.length)
  return (
    <div class={`state ${isGood ? 'good' : 'bad'}`}>
      <p class="state-line">
        <span aria-hidden="true">{isGood ? '✓' : '!'}</span> {isLive ? text : overview.notLive}
      </p>
      {problems.length > 0 && (
        <ul>
          {problems.map(({ text: each, href }) => (
            <li key={each}>{href === undefined ? each : <a href={href}>{each}</a>}</li>
          ))}
        </ul>
      )}
    </div>
  )
}
