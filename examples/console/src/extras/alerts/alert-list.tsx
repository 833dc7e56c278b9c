import type { JSX } from 'preact'
import { Text } from '../../ui/text.tsx'
import { When } from '../../ui/when.tsx'
import { useNames } from '../../words/names.ts'
import { useFormats } from '../../words/words.ts'
import type { Alert } from './alerts-api.ts'
import { useAlertsWords } from './words.ts'

export function AlertList({ items, now }: { items: readonly Alert[]; now?: number }): JSX.Element {
  const alerts = useAlertsWords()
  return (
    <ul class="plain alerts">
      {items.map((alert) => (
        <li key={alert.id}>
          <strong>{alerts.types[alert.type]}</strong>{' '}
          <span class={alert.state === 'given_up' ? 'tag bad' : 'tag'}>{alerts.states[alert.state]}</span>
          <br />
          <span class="quiet small">
            <When at={alert.at} now={now} />
          </span>{' '}
          <What of={alert} />
          <Attempts of={alert} />
        </li>
      ))}
    </ul>
  )
}

/** The subject of an alert, if its type doesn't say everything. */
function What({ of: { type, data } }: { of: Alert }): JSX.Element | null {
  const alerts = useAlertsWords()
  const names = useNames()
  const formats = useFormats()
  if (type === 'limit.near') {
    const { layer, category, window, used, limit, userId } = data as Record<string, string | number | null>
    const name = names.cell(String(layer), String(category), String(window))
    return (
      <>
        {typeof userId === 'string' && (
          <>
            <Text>{userId}</Text>,{' '}
          </>
        )}
        {alerts.near(name, formats.number(Number(used)), formats.number(Number(limit)))}
      </>
    )
  }
  if (type === 'factor.bound') return <>{formats.factor(Number(data.factor))}</>
  return null
}

function Attempts({ of: { attempts, lastStatus, lastFault, nextAt } }: { of: Alert }): JSX.Element | null {
  const alerts = useAlertsWords()
  const formats = useFormats()
  if (attempts === 0) return null
  const said = [
    alerts.attempts(formats.number(attempts)),
    ...(lastStatus === null ? [] : [alerts.answered(String(lastStatus))]),
    ...(lastFault === null ? [] : [alerts.faults[lastFault] ?? lastFault]),
    ...(nextAt === null ? [] : [alerts.again(formats.dateTime(nextAt))]),
  ]
  return (
    <>
      <br />
      <span class="quiet small">{said.join(' · ')}</span>
    </>
  )
}
