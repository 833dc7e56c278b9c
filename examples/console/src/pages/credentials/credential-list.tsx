import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Credential, CredentialKind, Issued } from '../../api/api.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { Field } from '../../ui/field.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { ErrorNotice } from '../../ui/notice.tsx'
import { plain, Text } from '../../ui/text.tsx'
import { useAction } from '../../ui/use-action.ts'
import { useDraft } from '../../ui/use-draft.ts'
import { useResource } from '../../ui/use-resource.ts'
import { When } from '../../ui/when.tsx'
import { useWords } from '../../words/words.ts'
import { IssuedCredential } from './issued-credential.tsx'

/** Reserved for the demo's own credentials. */
const DEMO = 'demo'

/** The API of one kind of credential. Pass the same object until it changes, because the list reloads with it. */
interface Credentials {
  list(): Promise<Credential[]>
  issue(name: string): Promise<Issued>
  revoke(id: string): Promise<void>
}

interface ListProps {
  readonly kind: CredentialKind | 'tokens'
  readonly of: Credentials
  readonly isNameOptional?: boolean
  /** The list's page. */
  readonly href: string
}

export function CredentialList({ kind, of, isNameOptional = false, href }: ListProps): JSX.Element {
  const { credentials: words } = useWords()
  const list = useResource(() => of.list(), [of])
  const [name, setName] = useDraft(href, kind, '', (text) => text !== '')
  const [issued, setIssued] = useState<Issued>()
  const [revoking, setRevoking] = useState<Credential>()
  const { isBusy, error, run } = useAction()
  const isGood = /^[^\p{Cc}\p{Cs}]{1,64}$/u.test(name) && name !== DEMO

  const issue = async (event: Event): Promise<void> => {
    event.preventDefault()
    await run(async () => {
      setIssued(await of.issue(name))
      setName('')
      list.reload()
    })
  }

  return (
    <section aria-labelledby={kind}>
      <h2 id={kind}>{words[kind].title}</h2>
      <p class="quiet small">{words[kind].about}</p>
      <form onSubmit={(event) => void issue(event)} autocomplete="off">
        <Field label={words[kind].name} fault={name === '' || isGood ? undefined : words.nameFault}>
          {(props) => (
            <input
              {...props}
              autocomplete="off"
              maxLength={64}
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
        </Field>
        <p class="buttons">
          <button type="submit" class="primary" disabled={isBusy || !(isGood || (isNameOptional && name === ''))}>
            {words[kind].issue}
          </button>
        </p>
      </form>
      <ErrorNotice error={error} />
      {issued !== undefined && <IssuedCredential token={issued.token} onDone={() => setIssued(undefined)} />}
      <Loaded resource={list} lines={4}>
        {(items) =>
          items.length === 0 ? <p class="empty">{words[kind].empty}</p> : <Rows items={items} onRevoke={setRevoking} />
        }
      </Loaded>
      {revoking !== undefined && (
        <Confirm
          title={words.revokeTitle}
          about={words.revokeAbout(revoking.name === '' ? revoking.id : plain(revoking.name))}
          yes={words.revoke}
          act={async () => {
            await of.revoke(revoking.id)
            if (issued?.id === revoking.id) setIssued(undefined)
            list.reload()
          }}
          onClose={() => setRevoking(undefined)}
        />
      )}
    </section>
  )
}

interface RowsProps {
  readonly items: readonly Credential[]
  onRevoke(credential: Credential): void
}

function Rows({ items, onRevoke }: RowsProps): JSX.Element {
  const words = useWords()
  return (
    <ul class="credentials">
      {items.map((each) => (
        <li key={each.id}>
          <span class="grow">
            {each.name === '' ? <span class="quiet">{words.credentials.unnamed}</span> : <Text>{each.name}</Text>}
            <span class="quiet small">
              <When at={each.createdAt} /> · <code>{each.id}</code>
            </span>
          </span>
          <button
            type="button"
            class="danger"
            aria-label={words.credentials.revokeOf(each.name === '' ? each.id : plain(each.name))}
            onClick={() => onRevoke(each)}
          >
            {words.credentials.revoke}
          </button>
        </li>
      ))}
    </ul>
  )
}
