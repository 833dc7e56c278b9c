import type { JSX } from 'preact'
import type { AuditEntry, AuditSearch } from '../../api/api.ts'
import { useRoute } from '../../route.ts'
import { useApi } from '../../session.ts'
import { ChoiceFilter, TextFilter } from '../../ui/filters.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Pager, usePaging } from '../../ui/pager.tsx'
import { useResource } from '../../ui/use-resource.ts'
import { useFormats, useWords } from '../../words/words.ts'
import { Entries } from './entries.tsx'

/** The API's limit on ids. */
const MAX_ID = 128

export function AuditPage(): JSX.Element {
  const words = useWords()
  const { audit } = words
  const formats = useFormats()
  const api = useApi()
  const paging = usePaging()
  const search = useSearch(paging.cursor)
  const page = useResource(() => api.audit(search), [api, JSON.stringify(search)])
  const isFiltered = Object.keys(search).some((name) => name !== 'cursor')
  const actions = Object.entries(audit.actions).map(([action, text]) => [action, text.replace(/：$/, '')] as const)
  return (
    <>
      <h1>{audit.title}</h1>
      <p class="quiet">{audit.about}</p>
      <div class="buttons filters">
        <ChoiceFilter page="audit" name="action" label={audit.action} options={[['', audit.every], ...actions]} />
        <TextFilter page="audit" name="by" label={audit.by} most={MAX_ID} />
        <TextFilter page="audit" name="subject" label={audit.subject} most={MAX_ID} />
        <button type="button" onClick={() => (paging.cursor === null ? page.reload() : paging.first())}>
          {words.reload}
        </button>
      </div>
      <Loaded resource={page} lines={20}>
        {({ items, nextCursor, total }) => (
          <>
            {items.length === 0 ? (
              <p class="empty">{isFiltered ? audit.noMatch : audit.empty}</p>
            ) : (
              <Entries items={items} />
            )}
            <Pager paging={paging} nextCursor={nextCursor} total={audit.total(total, formats.number(total))} />
          </>
        )}
      </Loaded>
    </>
  )
}

/** The search in the address. */
function useSearch(cursor: string | null): AuditSearch {
  const { audit } = useWords()
  const { action = '', by = '', subject = '' } = useRoute().query
  const known = (Object.keys(audit.actions) as AuditEntry['action'][]).find((each) => each === action)
  return {
    ...(known === undefined ? {} : { action: known }),
    ...(by === '' ? {} : { by }),
    ...(subject === '' ? {} : { subject }),
    ...(cursor === null ? {} : { cursor }),
  }
}
