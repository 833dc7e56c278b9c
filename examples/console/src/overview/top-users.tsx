import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Overview } from '../api/api.ts'
import { hrefOf } from '../route.ts'
import { usePolicy } from '../session.ts'
import { useNames } from '../words/names.ts'
import { useFormats, useWords } from '../words/words.ts'
import { Card } from './card.tsx'

interface TopUsersProps {
  readonly kind: 'spent' | 'refused'
  readonly since: string
  readonly users: Overview['top']['spent']
}

/** Users that are listed before a person asks for more. */
const FIRST = 5

/** Who spends, or is refused, most. */
export function TopUsers({ kind, since, users }: TopUsersProps): JSX.Element {
  const words = useWords()
  const formats = useFormats()
  const names = useNames()
  const { categories } = usePolicy()
  return (
    <Card title={words.overview[kind]} of="process">
      <p class="quiet small">{words.overview.refusalsSince(formats.time(since))}</p>
      {categories.map((category) => (
        <div key={category}>
          <h3>{names.category(category)}</h3>
          <List kind={kind} users={users[category] ?? []} />
        </div>
      ))}
    </Card>
  )
}

function List({ kind, users }: Pick<TopUsersProps, 'kind'> & { users: TopUsersProps['users'][string] }): JSX.Element {
  const words = useWords()
  const formats = useFormats()
  const [isAll, setAll] = useState(false)
  if (users.length === 0) return <p class="quiet">{words.overview.nobody}</p>
  const shown = isAll ? users : users.slice(0, FIRST)
  const rest = users.length - shown.length
  return (
    <>
      <table class="full top-users">
        <thead>
          <tr>
            <th scope="col">{words.overview.user}</th>
            <th scope="col" class="number">
              {kind === 'spent' ? words.overview.tokens : words.overview.count}
            </th>
            {kind === 'refused' && <td />}
          </tr>
        </thead>
        <tbody>
          {shown.map(({ userId, amount }) => (
            <tr key={userId}>
              <th scope="row" class="id">
                <a href={hrefOf('users', userId)}>
                  <bdi>{userId}</bdi>
                </a>
              </th>
              <td class="number">{formats.number(amount)}</td>
              {kind === 'refused' && (
                <td>
                  <a href={hrefOf('why', userId)} aria-label={words.overview.whyOf(userId)}>
                    {words.overview.why}
                  </a>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {rest > 0 && (
        <p class="buttons">
          <button type="button" class="plain" onClick={() => setAll(true)}>
            {words.overview.more(rest)}
          </button>
        </p>
      )}
    </>
  )
}
