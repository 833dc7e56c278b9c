import type { JSX } from 'preact'
import { useApi } from '../../session.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { Pager, usePaging } from '../../ui/pager.tsx'
import { useInterval } from '../../ui/use-interval.ts'
import { useResource } from '../../ui/use-resource.ts'
import { AlertList } from './alert-list.tsx'
import { readAlerts } from './alerts-api.ts'
import { WebhookCard } from './webhook-card.tsx'
import { useAlertsWords } from './words.ts'

const REFRESH_MS = 5_000

export function AlertsPage(): JSX.Element {
  const alerts = useAlertsWords()
  const api = useApi()
  const paging = usePaging('after')
  const page = useResource(() => readAlerts(api, paging.cursor), [api, paging.cursor])
  useInterval(page.reload, REFRESH_MS)
  return (
    <>
      <h1>{alerts.title}</h1>
      <p class="quiet">{alerts.about}</p>
      <div class="cards">
        <WebhookCard onTested={page.reload} />
      </div>
      <section aria-labelledby="alert-list">
        <h2 id="alert-list">{alerts.list}</h2>
        <Loaded resource={page} lines={12}>
          {({ items, nextCursor }) => (
            <>
              {items.length === 0 ? <p class="empty">{alerts.empty}</p> : <AlertList items={items} />}
              <Pager paging={paging} nextCursor={nextCursor} />
            </>
          )}
        </Loaded>
      </section>
    </>
  )
}
