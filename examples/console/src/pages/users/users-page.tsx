import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { goTo, hrefOf, type Route, useHash, useRoute } from '../../route.ts'
import { useApi } from '../../session.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { Pager, usePaging } from '../../ui/pager.tsx'
import { plain } from '../../ui/text.tsx'
import { useUnsaved } from '../../ui/use-draft.ts'
import { useResource } from '../../ui/use-resource.ts'
import { useWords } from '../../words/words.ts'
import { CreateUser, emptyUser, useNewUser } from './create-user.tsx'
import { rememberList } from './last-list.ts'
import { UserList } from './user-list.tsx'
import { UserPage } from './user-page.tsx'

/** Milliseconds without a key before a search starts. */
const PAUSE_MS = 200
/** The API's limit on a search text. */
const MAX_SEARCH = 64

export function UsersPages({ route: { part } }: { route: Route }): JSX.Element {
  return part === undefined ? <UsersPage /> : <UserPage key={part} id={part} />
}

function UsersPage(): JSX.Element {
  const words = useWords()
  const api = useApi()
  const search = (useRoute().query.q ?? '').slice(0, MAX_SEARCH)
  const [newUser, setNewUser] = useNewUser()
  const paging = usePaging('after')
  const page = useResource(() => api.users(search, paging.cursor), [api, search, paging.cursor])
  const hash = useHash()
  useEffect(() => rememberList(hash), [hash])

  return (
    <>
      <h1>{words.users.title}</h1>
      <p class="quiet">{words.users.about}</p>
      <div class="buttons">
        <Search search={search} />
        <button type="button" onClick={() => setNewUser(emptyUser())}>
          {words.users.create}
        </button>
      </div>
      <UnsavedUsers />
      <Loaded resource={page} lines={20}>
        {({ items, nextCursor }) => (
          <>
            {items.length === 0 ? (
              <p class="empty">{search === '' ? words.users.nobody : words.users.noMatch(plain(search))}</p>
            ) : (
              <UserList items={items} />
            )}
            <Pager paging={paging} nextCursor={nextCursor} />
          </>
        )}
      </Loaded>
      {newUser !== undefined && <CreateUser fields={newUser} onChange={setNewUser} />}
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

/** The address holds the search text, so going back from a user restores the list. */
function Search({ search }: { search: string }): JSX.Element {
  const words = useWords()
  const [text, setText] = useState(search)
  // Going back changes the address. Show its text before the next key, which would be lost otherwise.
  useLayoutEffect(() => setText(search), [search])
  useEffect(() => {
    if (text === search) return
    const timer = setTimeout(
      () => goTo(hrefOf('users', undefined, { q: text }), { isReplacing: search !== '' }),
      PAUSE_MS,
    )
    return () => clearTimeout(timer)
  }, [text, search])
  return (
    <input
      type="search"
      class="grow"
      aria-label={words.users.search}
      placeholder={words.users.search}
      maxLength={MAX_SEARCH}
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
    />
  )
}
