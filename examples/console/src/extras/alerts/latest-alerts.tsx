import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import type { Overview } from '../../api/api.ts'
import { hrefOf } from '../../route.ts'
import type { Speech } from '../../words/words.ts'
import type { Problem } from '../extra.ts'
import { AlertList } from './alert-list.tsx'
import { texts, useAlertsWords } from './words.ts'

export function LatestAlerts({ of, now }: { of: Overview; now: number }): JSX.Element {
  const words = useAlertsWords()
  const id = useId()
  const { alerts } = of
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{words.title}</h2>
      {alerts === null && <p class="notice warning">{words.away}</p>}
      {alerts?.length === 0 && <p class="quiet">{words.none}</p>}
      {alerts !== null && alerts.length > 0 && <AlertList items={alerts} now={now} />}
      <p>
        <a href={hrefOf('alerts')}>{words.all}</a>
      </p>
    </section>
  )
}

export function lostAlerts({ alerts }: Overview, { language, formats }: Speech): Problem | undefined {
  const lost = alerts?.filter(({ state }) => state === 'given_up').length ?? 0
  if (lost === 0) return undefined
  return { text: texts[language].lost(formats.number(lost)), href: hrefOf('alerts') }
}
