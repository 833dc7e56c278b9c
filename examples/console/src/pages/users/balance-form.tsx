import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { User } from '../../api/api.ts'
import { ApiError } from '../../api/api-error.ts'
import { bareNumber } from '../../form/form.ts'
import { hrefOf } from '../../route.ts'
import { useApi } from '../../session.ts'
import { Field } from '../../ui/field.tsx'
import { Done, ErrorNotice } from '../../ui/notice.tsx'
import { useAction } from '../../ui/use-action.ts'
import { useDraft } from '../../ui/use-draft.ts'
import { useFormats, useWords } from '../../words/words.ts'

const MAX_BALANCE = 1_000_000_000

interface Draft {
  readonly how: 'add' | 'set'
  readonly text: string
}

const NOTHING: Draft = { how: 'add', text: '' }

interface BalanceProps {
  readonly user: User
  onChanged(balance: number): void
  /** The shown balance is out of date. */
  onStale(): void
}

export function BalanceForm({ user, onChanged, onStale }: BalanceProps): JSX.Element {
  const words = useWords()
  const formats = useFormats()
  const api = useApi()
  const [{ how, text }, setDraft] = useDraft<Draft>(
    hrefOf('users', user.id),
    'balance',
    NOTHING,
    (draft) => draft.text !== '',
  )
  const [isDone, setDone] = useState(false)
  const { isBusy, error, run } = useAction()
  const credits = creditsOf(text, how === 'add')

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (credits === undefined) return
    const isChanged = await run(async () => {
      const change = how === 'add' ? { add: credits } : { set: credits, from: user.balance }
      onChanged(await api.changeBalance(user.id, change).catch(stale))
      setDraft((before) => ({ ...before, text: '' }))
    })
    setDone(isChanged)
  }

  const stale = (error: unknown): never => {
    if (error instanceof ApiError && error.code === 'precondition_failed') onStale()
    throw error
  }

  return (
    <section aria-labelledby="balance">
      <h2 id="balance">{words.users.balanceTitle}</h2>
      <p class="large">{words.users.balanceNow(formats.number(user.balance))}</p>
      <form onSubmit={(event) => void submit(event)} autocomplete="off">
        <Field label={words.users.how}>
          {(props) => (
            <select
              {...props}
              value={how}
              onChange={(event) => setDraft({ text, how: event.currentTarget.value as typeof how })}
            >
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
                setDraft({ how, text: event.currentTarget.value })
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
  const number = bareNumber(text)
  if (!(mayBeNegative ? /^[-+]?\d{1,10}$/ : /^\d{1,10}$/).test(number)) return undefined
  const value = Number(number)
  return Math.abs(value) <= MAX_BALANCE ? value : undefined
}
