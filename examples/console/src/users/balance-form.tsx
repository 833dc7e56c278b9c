import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { User } from '../api/api.ts'
import { useApi } from '../session.ts'
import { Field } from '../ui/field.tsx'
import { Done, ErrorNotice } from '../ui/notice.tsx'
import { useAction } from '../ui/use-action.ts'
import { useFormats, useWords } from '../words/words.ts'

const MAX_BALANCE = 1_000_000_000

/** The ticket credits of a user, added to or set. */
export function BalanceForm({ user, onChanged }: { user: User; onChanged(balance: number): void }): JSX.Element {
  const words = useWords()
  const formats = useFormats()
  const api = useApi()
  const [how, setHow] = useState<'add' | 'set'>('add')
  const [text, setText] = useState('')
  const [isDone, setDone] = useState(false)
  const { isBusy, error, run } = useAction()
  const credits = creditsOf(text, how === 'add')

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (credits === undefined) return
    const isChanged = await run(async () => {
      onChanged(await api.changeBalance(user.id, how === 'add' ? { add: credits } : { set: credits }))
      setText('')
    })
    setDone(isChanged)
  }

  return (
    <section aria-labelledby="balance">
      <h2 id="balance">{words.users.balanceTitle}</h2>
      <p class="large">{words.users.balanceNow(formats.number(user.balance))}</p>
      <form onSubmit={(event) => void submit(event)} autocomplete="off">
        <Field label={words.users.how}>
          {(props) => (
            <select {...props} value={how} onChange={(event) => setHow(event.currentTarget.value as typeof how)}>
              <option value="add">{words.users.add}</option>
              <option value="set">{words.users.set}</option>
            </select>
          )}
        </Field>
        <Field
          label={words.users.credits}
          about={how === 'add' ? words.users.addAbout : undefined}
          fault={text === '' || credits !== undefined ? undefined : words.users.creditsFault}
        >
          {(props) => (
            <input
              {...props}
              class="number"
              autocomplete="off"
              value={text}
              onInput={(event) => {
                setText(event.currentTarget.value)
                setDone(false)
              }}
            />
          )}
        </Field>
        <ErrorNotice error={error} />
        <p class="buttons">
          <button type="submit" class="primary" disabled={isBusy || credits === undefined}>
            {words.users.change}
          </button>
          <Done>{isDone && words.saved}</Done>
        </p>
      </form>
    </section>
  )
}

function creditsOf(text: string, mayBeNegative: boolean): number | undefined {
  if (!(mayBeNegative ? /^-?\d{1,10}$/ : /^\d{1,10}$/).test(text.trim())) return undefined
  const value = Number(text)
  return Math.abs(value) <= MAX_BALANCE ? value : undefined
}
