import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Credential, CredentialKind, Credentials, Issued } from '../../api/api.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { ErrorNotice } from '../../ui/notice.tsx'
import { useAction } from '../../ui/use-action.ts'
import { useDraft } from '../../ui/use-draft.ts'
import { useResource } from '../../ui/use-resource.ts'
import { useWords } from '../../words/words.ts'
import { CredentialRows, DEMO, nameOf } from './credential-rows.tsx'
import { IssuedCredential } from './issued-credential.tsx'

/** How long a rotated credential stays valid, in seconds: choices, and the first one. */
const GRACES = [0, 3_600, 86_400, 604_800] as const
const USUAL_GRACE = 86_400

interface ListProps {
  readonly kind: CredentialKind | 'tokens'
  /** Pass the same object until it changes, because the list reloads with it. */
  readonly of: Credentials
  readonly isNameOptional?: boolean
  /** The list's page. */
  readonly href: string
}

interface Asking {
  readonly what: 'rotate' | 'revoke'
  readonly credential: Credential
}

export function CredentialList({ kind, of, isNameOptional = false, href }: ListProps): JSX.Element {
  const { credentials: words } = useWords()
  const list = useResource(() => of.list(), [of])
  const [issued, setIssued] = useState<Issued>()
  const [asking, setAsking] = useState<Asking>()
  const use = (next: Issued): void => {
    setIssued(next)
    list.reload()
  }
  return (
    <section aria-labelledby={kind}>
      <h2 id={kind}>{words[kind].title}</h2>
      <p class="quiet small">{words[kind].about}</p>
      {issued !== undefined && <IssuedCredential token={issued.token} onDone={() => setIssued(undefined)} />}
      <Loaded resource={list} lines={4}>
        {(items) =>
          items.length === 0 ? (
            <p class="empty">{words[kind].empty}</p>
          ) : (
            <CredentialRows items={items} onAsk={(what, credential) => setAsking({ what, credential })} />
          )
        }
      </Loaded>
      <IssueForm
        kind={kind}
        href={href}
        isNameOptional={isNameOptional}
        issue={async (name) => use(await of.issue(name))}
      />
      {asking?.what === 'rotate' && (
        <RotateDialog
          name={nameOf(asking.credential)}
          rotate={async (grace) => use(await of.rotate(asking.credential.id, grace))}
          onClose={() => setAsking(undefined)}
        />
      )}
      {asking?.what === 'revoke' && (
        <Confirm
          title={words.revokeTitle}
          about={words.revokeAbout(nameOf(asking.credential))}
          yes={words.revoke}
          act={async () => {
            await of.revoke(asking.credential.id)
            if (issued?.id === asking.credential.id) setIssued(undefined)
            list.reload()
          }}
          onClose={() => setAsking(undefined)}
        />
      )}
    </section>
  )
}

interface IssueProps extends Pick<ListProps, 'kind' | 'href'> {
  readonly isNameOptional: boolean
  issue(name: string): Promise<void>
}

function IssueForm({ kind, href, isNameOptional, issue }: IssueProps): JSX.Element {
  const { credentials: words } = useWords()
  const [name, setName] = useDraft(href, kind, '', (text) => text !== '')
  const { isBusy, error, run } = useAction()
  const isGood = /^[^\p{Cc}\p{Cs}]{1,64}$/u.test(name) && name !== DEMO
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    await run(async () => {
      await issue(name)
      setName('')
    })
  }
  return (
    <form onSubmit={(event) => void submit(event)} autocomplete="off">
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
      <ErrorNotice error={error} />
      <p class="buttons">
        <button type="submit" disabled={isBusy || !(isGood || (isNameOptional && name === ''))}>
          {words[kind].issue}
        </button>
      </p>
    </form>
  )
}

interface RotateProps {
  readonly name: string
  rotate(graceSeconds: number): Promise<void>
  onClose(): void
}

function RotateDialog({ name, rotate, onClose }: RotateProps): JSX.Element {
  const { credentials: words } = useWords()
  const [grace, setGrace] = useState<number>(USUAL_GRACE)
  return (
    <Confirm
      title={words.rotateTitle(name)}
      about={words.rotateAbout}
      yes={words.rotateSubmit}
      isHarmless
      act={() => rotate(grace)}
      onClose={onClose}
    >
      <Select
        label={words.grace}
        value={String(grace)}
        options={GRACES.map((each) => [String(each), words.graces[each]])}
        onChange={(value) => setGrace(Number(value))}
      />
    </Confirm>
  )
}
