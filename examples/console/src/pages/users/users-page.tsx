import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ListedUser, UserSearch } from '../../api/api.ts'
import { hrefOf, type Route, useHash, useRoute } from '../../route.ts'
import { useApi } from '../../session.ts'
import { ChoiceFilter, TextFilter } from '../../ui/filters.tsx'
import { NEAR } from '../../ui/limit-bar.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Pager, usePaging } from '../../ui/pager.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { plain, Text } from '../../ui/text.tsx'
import { useUnsaved } from '../../ui/use-draft.ts'
import { useResource } from '../../ui/use-resource.ts'
import { When } from '../../ui/when.tsx'
import { useNames } from '../../words/names.ts'
import { useFormats, useWords } from '../../words/words.ts'
import { rememberList } from './last-list.ts'
import { NewUser } from './new-user.tsx'
import { UserPage } from './user-page.tsx'

/** The API's limit on a search text. */
const MAX_SEARCH = 64
const SORTS = ['id', 'tokens', 'refusals', 'lastSeen'] as const

export function UsersPages({ route: { part } }: { route: Route }): JSX.Element {
  return part === undefined ? <UsersPage /> : <UserPage key={part} id={part} />
}

function UsersPage(): JSX.Element {
  const { users: words } = useWords()
  const formats = useFormats()
  const columns = useColumns()
  const api = useApi()
  const { q = '', sort = '' } = useRoute().query
  const search = q.slice(0, MAX_SEARCH)
  const [isNew, setNew] = useState(false)
  const paging = usePaging()
  const { cursor } = paging
  const page = useResource(() => {
    const query: UserSearch = {
      sort: SORTS.find((each) => each === sort) ?? 'id',
      ...(search === '' ? {} : { query: search }),
      ...(cursor === null ? {} : { cursor }),
    }
    return api.users(query)
  }, [api, search, sort, cursor])
  const hash = useHash()
  useEffect(() => rememberList(hash), [hash])

  return (
    <>
      <h1>{words.title}</h1>
      <div class="buttons filters">
        <TextFilter page="users" name="q" label={words.search} most={MAX_SEARCH} />
        <ChoiceFilter
          page="users"
          name="sort"
          label={words.sort}
          options={SORTS.map((each) => [each === 'id' ? '' : each, words.sorts[each]])}
        />
        <button type="button" onClick={() => setNew(true)}>
          {words.create}
        </button>
      </div>
      <UnsavedUsers />
      <Loaded resource={page} lines={20}>
        {({ items, nextCursor, total }) => (
          <>
            <Table
              label={words.list}
              columns={columns}
              items={items}
              keyOf={({ id }) => id}
              empty={search === '' ? words.nobody : words.noMatch(plain(search))}
            />
            <Pager paging={paging} nextCursor={nextCursor} total={words.total(total, formats.number(total))} />
          </>
        )}
      </Loaded>
      {isNew && <NewUser onClose={() => setNew(false)} />}
    </>
  )
}

function useColumns(): readonly Column<ListedUser>[] {
  const { users: words, none } = useWords()
  const names = useNames()
  const formats = useFormats()
  return [
    { name: words.user, cell: (user) => <Who user={user} /> },
    {
      name: words.tightest,
      cell: ({ tightest }) =>
        tightest === null || tightest.used === 0 ? (
          <span class="quiet">{tightest === null ? words.unknown : words.unused}</span>
        ) : (
          <span class="tightest">
            <meter
              aria-label={names.limit(tightest.name)}
              class={tightest.used >= NEAR * tightest.limit ? 'near' : ''}
              value={tightest.used}
              max={Math.max(1, tightest.limit)}
            />
            <span class="small">
              {words.used(formats.number(tightest.used), formats.number(tightest.limit))} · {names.limit(tightest.name)}
            </span>
          </span>
        ),
    },
    { name: words.sorts.tokens, isNumber: true, cell: ({ tokensToday }) => formats.number(tokensToday) },
    {
      name: words.sorts.refusals,
      isNumber: true,
      cell: ({ refusalsToday }) => (
        <span class={refusalsToday > 0 ? 'ending refused' : 'quiet'}>{formats.number(refusalsToday)}</span>
      ),
    },
    {
      name: words.sorts.lastSeen,
      cell: ({ lastSeenAt }) => (lastSeenAt === null ? <span class="quiet">{none}</span> : <When at={lastSeenAt} />),
    },
  ]
}

/** A user's id, and what tells people who it is. */
function Who({ user: { id, name, role, disabled, qq } }: { user: ListedUser }): JSX.Element {
  const { users: words } = useWords()
  return (
    <>
      <a href={hrefOf('users', id)}>{id}</a> {role === 'admin' && <span class="tag">{words.roles.admin}</span>}{' '}
      {disabled && <span class="tag">{words.disabled}</span>}
      {(name !== id || qq !== null) && (
        <span class="quiet small block">
          {name !== id && <Text>{name}</Text>}
          {name !== id && qq !== null && ' · '}
          {qq !== null && `QQ ${qq}`}
        </span>
      )}
    </>
  )
}

/** Links to users whose forms have unsaved input. */
function UnsavedUsers(): JSX.Element | null {
  const words = useWords()
  const prefix = `${hrefOf('users')}/`
  const hrefs = useUnsaved().filter((href) => href.startsWith(prefix))
  if (hrefs.length === 0) return null
  return (
    <p class="notice warning">
      {words.users.unsaved}{' '}
      {hrefs.map((href) => (
        <a key={href} href={href} class="listed">
          {decodeURIComponent(href.slice(prefix.length))}
        </a>
      ))}
    </p>
  )
}
