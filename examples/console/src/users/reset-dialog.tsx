import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { QuotaStatus } from '../api/api.ts'
import { useApi } from '../session.ts'
import { CATEGORIES, type Category, type Layer } from '../settings/axes.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Field } from '../ui/field.tsx'
import { ErrorNotice } from '../ui/notice.tsx'
import { useAction } from '../ui/use-action.ts'
import { useWords } from '../words/words.ts'

interface ResetProps {
  readonly id: string
  onReset(status: QuotaStatus): void
  onClose(): void
}

/** Asks what is to be forgiven. The site-wide windows are everybody's and never chosen by themselves. */
export function ResetDialog({ id, onReset, onClose }: ResetProps): JSX.Element {
  const words = useWords()
  const api = useApi()
  const [category, setCategory] = useState<Category | ''>('')
  const [layer, setLayer] = useState<Layer>('personal')
  const { isBusy, error, run } = useAction()

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const isDone = await run(async () => {
      onReset(await api.resetQuota(id, { layer, ...(category === '' ? {} : { category }) }))
    })
    if (isDone) onClose()
  }

  return (
    <Dialog title={words.users.resetTitle} onClose={onClose}>
      <p>{words.users.resetAbout}</p>
      <form onSubmit={(event) => void submit(event)}>
        <Field label={words.users.resetWhat}>
          {(props) => (
            <select
              {...props}
              value={category}
              onChange={(event) => setCategory(event.currentTarget.value as Category | '')}
            >
              <option value="">{words.users.both}</option>
              {CATEGORIES.map((each) => (
                <option key={each} value={each}>
                  {words.categories[each]}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={words.users.resetLayer}>
          {(props) => (
            <select {...props} value={layer} onChange={(event) => setLayer(event.currentTarget.value as Layer)}>
              <option value="personal">{words.users.resetPersonal}</option>
              <option value="site">{words.users.resetSite}</option>
            </select>
          )}
        </Field>
        <ErrorNotice error={error} />
        <p class="buttons">
          <button type="submit" class="primary" disabled={isBusy}>
            {words.users.resetSubmit}
          </button>
          <button type="button" onClick={onClose}>
            {words.cancel}
          </button>
        </p>
      </form>
    </Dialog>
  )
}
