import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Overview } from '../../api/api.ts'
import { CATEGORIES } from '../../limits.ts'
import { hrefOf } from '../../route.ts'
import { useNames } from '../../words/names.ts'
import { useFormats } from '../../words/words.ts'
import { Card } from './cards.tsx'
import { useOverviewWords } from './words.ts'

interface TopUsersProps {
  readonly kind: 'spent' | 'refused'
  readonly since: string
  readonly users: Overview['top']['spent']
}

/** Users listed until a person shows more. */
const FIRST = 5

export function TopUsers({ kind, since, users }: TopUsersProps): JSX.Element {
  const overview = useOverviewWords()
  const formats = useFormats()
  const names = useNames()
  return (
    <Card title={overview[kind]} of="process">
      <p class="quiet small">{overview.refusalsSince(formats.time(since))}</p>
      {CATEGORIES.map((category) => (
        <div key={category}>
          <h3>{names.category(category)}</h3>
          <List kind={kind} users={users[category] ?? []} />
        </div>
      ))}
    </Card>
  )
}

function List({ kind, users }: Pick<TopUsersProps, 'kind'> & { users: TopUsersProps['users'][string] }): JSX.Element {
  const overview = useOverviewWords()
  const formats = useFormats()
  const [isAll, setAll] = useState(false)
  if (users.length === 0) return <p class="quiet">{overview.nobody}</p>
  const shown = isAll ? users : users.slice(0, FIRST)
  const rest = users.length - shown.length
  return (
    <>
      <table class="full top-users">
        <thead>
          <tr>
            <th scope="col">{overview.user}</th>
            <th scope="col" class="number">
              {kind === 'spent' ? overview.tokens : overview.count}
            </th>
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
            </tr>
          ))}
        </tbody>
      </table>
      {rest > 0 && (
        <p class="buttons">
          <button type="button" class="plain" onClick={() => setAll(true)}>
            {overview.more(rest)}
          </button>
        </p>
      )}
    </>
  )
}
