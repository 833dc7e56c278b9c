import type { JSX } from 'preact'
import { AlertList } from '../alerts/alert-list.tsx'
import type { Overview } from '../api/api.ts'
import { hrefOf } from '../route.ts'
import { useWords } from '../words/words.ts'
import { Card } from './card.tsx'

/** The last alerts. */
export function LatestAlerts({ of, now }: { of: Overview['alerts']; now: number }): JSX.Element {
  const words = useWords()
  return (
    <Card title={words.alerts.title} of="all">
      {of === null && <p class="notice warning">{words.overview.countsAway}</p>}
      {of?.length === 0 && <p class="quiet">{words.alerts.none}</p>}
      {of !== null && of.length > 0 && <AlertList items={of} now={now} />}
      <p>
        <a href={hrefOf('alerts')}>{words.alerts.all}</a>
      </p>
    </Card>
  )
}
