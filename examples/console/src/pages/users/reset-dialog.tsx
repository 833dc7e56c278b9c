import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { CATEGORIES, LAYERS, type QuotaStatus } from '../../limits.ts'
import { useApi } from '../../session.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { ErrorNotice } from '../../ui/notice.tsx'
import { useAction } from '../../ui/use-action.ts'
import { useNames } from '../../words/names.ts'
import { useWords } from '../../words/words.ts'

interface ResetProps {
  readonly id: string
  onReset(status: QuotaStatus): void
  onClose(): void
}

/** The site-wide windows are never preselected. */
export function ResetDialog({ id, onReset, onClose }: ResetProps): JSX.Element {
  const words = useWords()
  const api = useApi()
  const names = useNames()
  const [category, setCategory] = useState('')
  const [layer, setLayer] = useState('personal')
  const { isBusy, error, run } = useAction()

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const isDone = await run(async () => {
      const [chosen] = CATEGORIES.filter((each) => each === category)
      const reset = { layer: LAYERS.find((each) => each === layer) ?? 'personal' }
      onReset(await api.resetQuota(id, chosen === undefined ? reset : { ...reset, category: chosen }))
    })
    if (isDone) onClose()
  }

  return (
    <Dialog title={words.users.resetTitle} onClose={onClose}>
      <p>{words.users.resetAbout}</p>
      <form onSubmit={(event) => void submit(event)}>
        <Field label={words.users.resetWhat}>
          {(props) => (
            <select {...props} value={category} onChange={(event) => setCategory(event.currentTarget.value)}>
              <option value="">{words.users.every}</option>
              {CATEGORIES.map((each) => (
                <option key={each} value={each}>
                  {names.category(each)}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={words.users.resetLayer}>
          {(props) => (
            <select {...props} value={layer} onChange={(event) => setLayer(event.currentTarget.value)}>
              {LAYERS.map((each) => (
                <option key={each} value={each}>
                  {words.users.resetLayers[each]}
                </option>
              ))}
            </select>
          )}
        </Field>
        <ErrorNotice error={error} />
        <p class="buttons">
          <button type="submit" class="danger" disabled={isBusy}>
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
