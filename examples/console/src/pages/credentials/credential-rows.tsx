import type { JSX } from 'preact'
import type { Credential } from '../../api/api.ts'
import { plain, Text } from '../../ui/text.tsx'
import { When } from '../../ui/when.tsx'
import { useWords } from '../../words/words.ts'

/** Reserved for the demo's own credentials. */
export const DEMO = 'demo'

interface RowsProps {
  readonly items: readonly Credential[]
  onAsk(what: 'rotate' | 'revoke', credential: Credential): void
}

/** Credentials without their secrets. One that was rotated, or is the demo's, isn't rotated. */
export function CredentialRows({ items, onAsk }: RowsProps): JSX.Element {
  const { credentials: words } = useWords()
  return (
    <ul class="credentials">
      {items.map((each) => (
        <li key={each.id}>
          <span class="grow">
            {each.name === '' ? <span class="quiet">{words.unnamed}</span> : <Text>{each.name}</Text>}{' '}
            {each.lastFour !== '' && <code>…{each.lastFour}</code>}
            <Times of={each} />
          </span>
          <span class="buttons">
            {each.expiresAt === null && each.name !== DEMO && (
              <button type="button" aria-label={words.rotateOf(nameOf(each))} onClick={() => onAsk('rotate', each)}>
                {words.rotate}
              </button>
            )}
            <button
              type="button"
              class="danger"
              aria-label={words.revokeOf(nameOf(each))}
              onClick={() => onAsk('revoke', each)}
            >
              {words.revoke}
            </button>
          </span>
        </li>
      ))}
    </ul>
  )
}

function Times({ of: { createdAt, lastUsedAt, expiresAt } }: { of: Credential }): JSX.Element {
  const { credentials: words } = useWords()
  return (
    <span class="quiet small facts">
      <span>
        {lastUsedAt === null ? (
          words.neverUsed
        ) : (
          <>
            {words.lastUsed} <When at={lastUsedAt} />
          </>
        )}
      </span>
      <span>
        {words.issuedAt} <When at={createdAt} />
      </span>
      {expiresAt !== null && (
        <strong>
          {words.expires} <When at={expiresAt} />
        </strong>
      )}
    </span>
  )
}

/** A credential's name for people. */
export function nameOf({ id, name }: Credential): string {
  return name === '' ? id : plain(name)
}
