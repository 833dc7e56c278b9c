import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { UserPage } from '../api/api.ts'
import { hrefOf } from '../route.ts'
import { useApi } from '../session.ts'
import { Loaded } from '../ui/loaded.tsx'
import { Pager, usePaging } from '../ui/pager.tsx'
import { Scroll } from '../ui/scroll.tsx'
import { useResource } from '../ui/use-resource.ts'
import { useFormats, useWords } from '../words/words.ts'
import { CreateUser } from './create-user.tsx'

/** How long somebody who types is waited for. */
const PAUSE_MS = 200
/** The longest text that the API looks for. */
const MAX_SEARCH = 64

/** Users, page by page: the console never holds more than one page of however many there are. */
export function UsersPage(): JSX.Element {
  const words = useWords()
  const api = useApi()
  const [text, setText] = useState('')
  const [search, setSearch] = useState('')
  const [isCreating, setCreating] = useState(false)
  const paging = usePaging()
  const page = useResource(() => api.users(search, paging.cursor), [api, search, paging.cursor])

  useEffect(() => {
    if (text === search) return
    const timer = setTimeout(() => {
      setSearch(text)
      paging.first()
    }, PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text, search])

  return (
    <>
      <h1>{words.users.title}</h1>
      <p class="quiet">{words.users.about}</p>
      <div class="buttons">
        <input
          type="search"
          class="grow"
          aria-label={words.users.search}
          placeholder={words.users.search}
          maxLength={MAX_SEARCH}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="button" onClick={() => setCreating(true)}>
          {words.users.create}
        </button>
      </div>
      <Loaded resource={page} lines={20}>
        {({ items, nextCursor }) => (
          <>
            <UserList items={items} search={search} />
            <Pager paging={paging} nextCursor={nextCursor} />
          </>
        )}
      </Loaded>
      {isCreating && <CreateUser onClose={() => setCreating(false)} />}
    </>
  )
}

function UserList({ items, search }: { items: UserPage['items']; search: string }): JSX.Element {
  const words = useWords()
  const formats = useFormats()
  if (items.length === 0) {
    return <p class="empty">{search === '' ? words.users.nobody : words.users.noMatch(search)}</p>
  }
  return (
    <Scroll label={words.users.list}>
      <table>
        <thead>
          <tr>
            <th scope="col" class="stick">
              {words.users.id}
            </th>
            <th scope="col">{words.users.name}</th>
            <th scope="col">{words.users.role}</th>
            <th scope="col">{words.users.qq}</th>
            <th scope="col" class="number">
              {words.users.balance}
            </th>
            <th scope="col">{words.users.created}</th>
          </tr>
        </thead>
        <tbody>
          {items.map(({ id, name, role, qq, balance, createdAt }) => (
            <tr key={id}>
              <th scope="row" class="stick id">
                <a href={hrefOf('users', id)}>{id}</a>
              </th>
              <td>{name}</td>
              <td>{words.users.roles[role]}</td>
              <td>{qq ?? <span class="quiet">{words.none}</span>}</td>
              <td class="number">{formats.number(balance)}</td>
              <td class="no-wrap">{formats.date(createdAt)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
