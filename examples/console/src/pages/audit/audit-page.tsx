import type { JSX } from 'preact'
import { useApi } from '../../session.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { Pager, usePaging } from '../../ui/pager.tsx'
import { useResource } from '../../ui/use-resource.ts'
import { useWords } from '../../words/words.ts'
import { Entries } from './entries.tsx'

export function AuditPage(): JSX.Element {
  const words = useWords()
  const api = useApi()
  const paging = usePaging('before')
  const page = useResource(() => api.audit(paging.cursor), [api, paging.cursor])
  return (
    <>
      <h1>{words.audit.title}</h1>
      <p class="quiet">{words.audit.about}</p>
      <p class="buttons">
        <button type="button" onClick={() => (paging.cursor === null ? page.reload() : paging.first())}>
          {words.reload}
        </button>
      </p>
      <Loaded resource={page} lines={20}>
        {({ items, nextCursor }) => (
          <>
            {items.length === 0 ? <p class="empty">{words.audit.empty}</p> : <Entries items={items} />}
            <Pager paging={paging} nextCursor={nextCursor} />
          </>
        )}
      </Loaded>
    </>
  )
}
