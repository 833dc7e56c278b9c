import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { goTo, hrefOf, isId } from '../../route.ts'
import { useApi } from '../../session.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { ErrorNotice } from '../../ui/notice.tsx'
import { useAction } from '../../ui/use-action.ts'
import { useWords } from '../../words/words.ts'

/** Creates a player. Everything else is set on the player's page. */
export function NewUser({ onClose }: { onClose(): void }): JSX.Element {
  const words = useWords()
  const { users } = words
  const api = useApi()
  const [id, setId] = useState('')
  const { isBusy, error, run, clear } = useAction()
  const isTaken = error?.code === 'precondition_failed'
  const fault = isTaken ? users.idTaken : id !== '' && !isId(id) && users.idFault
  const create = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (await run(() => api.createUser(id, {}))) goTo(hrefOf('users', id))
  }
  return (
    <Dialog title={users.create} onClose={onClose}>
      <form onSubmit={(event) => void create(event)} autocomplete="off">
        <Field label={users.id} about={users.idAbout} fault={fault === false ? undefined : fault}>
          {(props) => (
            <input
              {...props}
              autocomplete="off"
              autocapitalize="none"
              spellcheck={false}
              maxLength={128}
              value={id}
              onInput={(event) => {
                setId(event.currentTarget.value)
                clear()
              }}
            />
          )}
        </Field>
        <ErrorNotice error={isTaken ? undefined : error} />
        <p class="buttons">
          <button type="submit" class="primary" disabled={isBusy || !isId(id)}>
            {users.createSubmit}
          </button>
          <button type="button" onClick={onClose}>
            {words.cancel}
          </button>
        </p>
      </form>
    </Dialog>
  )
}
