import type { JSX } from 'preact'
import { EditorForm } from '../../form/editor-form.tsx'
import { EditorField } from '../../form/fields.tsx'
import { type Fields, type Read, wholeNumber } from '../../form/form.ts'
import { useEditor } from '../../form/use-editor.ts'
import { hrefOf } from '../../route.ts'
import { useApi } from '../../session.ts'
import { useWords } from '../../words/words.ts'

const MOST_CREDITS = 1_000_000_000

/** A player's balance. Players spend it too, so its version is the balance itself. */
export function CreditsForm({ id }: { id: string }): JSX.Element {
  const { users } = useWords()
  const api = useApi()
  const version = (balance: number) => ({ etag: String(balance), document: balance, warnings: [] })
  const editor = useEditor(
    {
      href: hrefOf('users', id),
      form: 'credits',
      load: async () => version((await api.user(id)).document.balance),
      store: async (balance: number, etag) => version(await api.setBalance(id, balance, Number(etag))),
      toFields: (balance) => ({ credits: String(balance) }),
      read: readCredits,
    },
    [api, id],
  )
  return (
    <section aria-labelledby="credits">
      <h2 id="credits">{users.credits}</h2>
      <EditorForm editor={editor} lines={3} texts={{ nameOf: () => users.credits, textOf: (_path, text) => text }}>
        <EditorField editor={editor} path="credits" label={users.balance} about={users.creditsAbout} />
      </EditorForm>
    </section>
  )
}

function readCredits({ credits = '' }: Fields): Read<number> {
  const value = wholeNumber(credits)
  if (value === undefined || value > MOST_CREDITS) return { body: undefined, faults: { credits: 'credits' } }
  return { body: value, faults: {} }
}
