import type { JSX } from 'preact'
import type { User } from '../../api/api.ts'
import { hrefOf } from '../../route.ts'
import { useNarrow } from '../../ui/hooks.ts'
import { Scroll } from '../../ui/scroll.tsx'
import { Text } from '../../ui/text.tsx'
import { useFormats, useWords } from '../../words/words.ts'

/** A table, or cards on a narrow screen. */
export function UserList({ items }: { items: readonly User[] }): JSX.Element {
  return useNarrow() ? <Cards items={items} /> : <Table items={items} />
}

function Cards({ items }: { items: readonly User[] }): JSX.Element {
  const { users: words, none } = useWords()
  const formats = useFormats()
  return (
    <ul class="entries" aria-label={words.list}>
      {items.map(({ id, name, role, disabled, qq, balance, createdAt }) => (
        <li key={id}>
          <p class="entry-title">
            <a href={hrefOf('users', id)}>{id}</a>
            {role === 'admin' && <span class="tag">{words.roles.admin}</span>}
            {disabled && <span class="tag">{words.disabled}</span>}
          </p>
          {name !== id && (
            <p>
              <Text>{name}</Text>
            </p>
          )}
          <p class="quiet small facts">
            <span>
              {words.qq} {qq ?? none}
            </span>
            <span>
              {words.balance} {formats.number(balance)}
            </span>
            <span>
              {words.created} {formats.date(createdAt)}
            </span>
          </p>
        </li>
      ))}
    </ul>
  )
}

function Table({ items }: { items: readonly User[] }): JSX.Element {
  const { users: words, none } = useWords()
  const formats = useFormats()
  return (
    <Scroll label={words.list}>
      <table class="users">
        <thead>
          <tr>
            <th scope="col">{words.id}</th>
            <th scope="col">{words.name}</th>
            <th scope="col">{words.role}</th>
            <th scope="col" class="number">
              {words.qq}
            </th>
            <th scope="col" class="number">
              {words.balance}
            </th>
            <th scope="col">{words.created}</th>
          </tr>
        </thead>
        <tbody>
          {items.map(({ id, name, role, disabled, qq, balance, createdAt }) => (
            <tr key={id}>
              <th scope="row">
                <a href={hrefOf('users', id)}>{id}</a>
              </th>
              <td>
                <Text>{name}</Text>
              </td>
              <td class="no-wrap">
                {words.roles[role]} {disabled && <span class="tag">{words.disabled}</span>}
              </td>
              <td class="number">{qq ?? <span class="quiet">{none}</span>}</td>
              <td class="number">{formats.number(balance)}</td>
              <td class="no-wrap">{formats.date(createdAt)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
