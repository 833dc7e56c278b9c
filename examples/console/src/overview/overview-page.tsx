import type { JSX } from 'preact'
import type { Overview } from '../api/api.ts'
import { hrefOf } from '../route.ts'
import { Skeleton } from '../ui/loaded.tsx'
import { ErrorNotice } from '../ui/notice.tsx'
import { useFormats, useWords } from '../words/words.ts'
import { AdaptiveFactor } from './adaptive-factor.tsx'
import { LatestAlerts } from './latest-alerts.tsx'
import { Refusals } from './refusals.tsx'
import { SharedLimits } from './shared-limits.tsx'
import { TopUsers } from './top-users.tsx'
import { Traffic } from './traffic.tsx'
import { type Live, useLive } from './use-live.ts'

/** The overview, updated each second. */
export function OverviewPage(): JSX.Element {
  const words = useWords()
  const live = useLive()
  return (
    <>
      <h1>{words.overview.title}</h1>
      <p class="quiet">{words.overview.about}</p>
      <Line live={live} />
      {live.data === undefined ? <Skeleton lines={16} /> : <Figures of={live.data} />}
    </>
  )
}

/** Whether the shown figures are current. */
function Line({ live: { data, downSince, error } }: { live: Live }): JSX.Element {
  const words = useWords()
  const formats = useFormats()
  const isDown = downSince !== undefined
  return (
    <div class="line-state">
      <p class={isDown ? 'notice warning' : 'quiet small'} role="status">
        {isDown &&
          `${words.overview.down(formats.timeOfDay(downSince))}${data === undefined ? '' : ` ${words.overview.stale}`}`}
        {!isDown && data === undefined && words.overview.connecting}
      </p>
      {!isDown && data !== undefined && (
        <p class="quiet small">
          <span class="live-dot" aria-hidden="true" />
          {words.overview.live(formats.timeOfDay(data.at))} ·{' '}
          {words.overview.process(data.process.id, formats.dateTime(data.process.since))}
        </p>
      )}
      <ErrorNotice error={error} />
    </div>
  )
}

function Figures({ of }: { of: Overview }): JSX.Element {
  return (
    <>
      <SettingsFaults of={of.settings} />
      <div class="cards overview">
        <div>
          <Traffic of={of.requests} />
          <Refusals of={of.refusals} />
        </div>
        <div>
          <SharedLimits limits={of.shared} disabled={of.disabled} />
          <AdaptiveFactor of={of.adaptive} />
          <LatestAlerts of={of.alerts} />
        </div>
        <TopUsers kind="spent" since={of.top.since} users={of.top.spent} />
        <TopUsers kind="refused" since={of.top.since} users={of.top.refused} />
      </div>
    </>
  )
}

function SettingsFaults({ of: { faults } }: { of: Overview['settings'] }): JSX.Element | null {
  const words = useWords()
  const formats = useFormats()
  if (faults === null) return <p class="notice warning">{words.overview.faultsAway}</p>
  if (faults.length === 0) return null
  return (
    <p class="notice warning">
      {words.overview.faults(formats.number(faults.length))} <a href={hrefOf('settings')}>{words.overview.toLimits}</a>
    </p>
  )
}
