import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { QuotaStatus } from '../../api/documents.ts'
import { ownLayers } from '../../form/axes.ts'
import { useApi, usePolicy } from '../../session.ts'
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

/** Shared windows are never preselected. */
export function ResetDialog({ id, onReset, onClose }: ResetProps): JSX.Element {
  const words = useWords()
  const api = useApi()
  const names = useNames()
  const policy = usePolicy()
  const [category, setCategory] = useState('')
  const [layer, setLayer] = useState(ownLayers(policy)[0]?.name ?? '')
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
            <select {...props} value={category} onChange={(event) => setCategory(event.currentTarget.value)}>
              <option value="">{words.users.every}</option>
              {policy.categories.map((each) => (
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
              {policy.layers.map(({ name, shared }) => (
                <option key={name} value={name}>
                  {(shared ? words.users.resetShared : words.users.resetOwn)(names.layer(name))}
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
